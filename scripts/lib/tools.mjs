// The programs that the scripts use, as commands for `run`.

import { existsSync } from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { NotStarted, run } from "./process.mjs";
import { inProject, readJson } from "./project.mjs";

/** @param {string[]} args */
export const node = (...args) => [process.execPath, ...args];

/** @param {string[]} args */
export const cargo = (...args) => ["cargo", ...args];

/**
 * A program of a package in `node_modules`.
 *
 * @param {string} packageName
 * @param {string} program
 * @param {string[]} args
 */
export function tool(packageName, program, ...args) {
  const folder = inProject("node_modules", packageName);
  const { bin } = readJson(path.join(folder, "package.json"));
  return node(path.join(folder, typeof bin === "string" ? bin : bin[program]), ...args);
}

/** @param {string[]} args */
export const bun = (...args) => [binaryOf("bun", "bin/bun"), ...args];

/** @param {string[]} args */
export const deno = (...args) => [binaryOf("deno", "deno"), ...args];

/**
 * The binary that a package installs for this platform as an optional dependency. The program of the package itself
 * needs an install script, or adds one more process.
 *
 * @param {string} packageName
 * @param {string} file
 */
function binaryOf(packageName, file) {
  const { bin, optionalDependencies } = readJson(inProject("node_modules", packageName, "package.json"));
  const name = process.platform === "win32" ? `${file}.exe` : file;
  const installed = Object.keys(optionalDependencies).filter((it) => existsSync(inProject("node_modules", it)));
  const platforms = installed.map((platform) => inProject("node_modules", platform, name));
  // The install script of bun moves the binary into its own package.
  const moved = installed.map(() => inProject("node_modules", packageName, bin[packageName] ?? ""));
  const found = [...platforms, ...moved].find((binary) => existsSync(binary));
  if (found === undefined) throw new Failure(`npm has not installed ${packageName} for this platform: run npm ci`);
  return found;
}

/**
 * npm, run by this Node: the npm that runs this script if there is one, else the one of the Node installation.
 *
 * @param {string[]} args
 */
export function npm(...args) {
  const places = [
    process.env.npm_execpath ?? "",
    path.join(path.dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js"),
    path.join(path.dirname(process.execPath), "node_modules/npm/bin/npm-cli.js"),
  ];
  const found = places.find((place) => path.basename(place) === "npm-cli.js" && existsSync(place));
  return found === undefined ? ["npm", ...args] : node(found, ...args);
}

/**
 * True if a program can be started and succeeds.
 *
 * @param {readonly string[]} command
 */
export async function isInstalled(command) {
  try {
    return (await run(command)).code === 0;
  } catch (error) {
    if (error instanceof NotStarted) return false;
    throw error;
  }
}
