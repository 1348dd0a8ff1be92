// The native addon, built when its sources have changed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ensureDependencies } from "./dependencies.mjs";
import { Failure } from "./failure.mjs";
import { currentPlatform } from "./platforms.mjs";
import { inProject, listFiles, readJson } from "./project.mjs";
import { runTask } from "./task.mjs";
import { cargo, isInstalled, tool } from "./tools.mjs";

/** @typedef {"release" | "debug"} Profile */

/** What the last build was made from. In a folder that no build of cargo empties by itself. */
const STAMP = inProject("target/addon.json");

/**
 * Makes sure that the addon of this platform and its loader are there and up to date.
 *
 * @param {Profile} [profile]
 * @param {(title: string, command: readonly string[]) => Promise<unknown>} [build] Runs the build.
 */
export async function ensureAddon(profile = "release", build = runTask) {
  const sources = hashSources();
  if (isUpToDate(profile, sources)) return;
  await requireCargo();
  await ensureDependencies();
  await build(`Building the addon (${profile})`, buildCommand(profile));
  mkdirSync(path.dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, JSON.stringify({ profile, sources, products: describeProducts() }));
}

/** @param {Profile} profile */
function buildCommand(profile) {
  const args = ["build", "--platform", "--output-dir", ".", "--js", "native.js", "--dts", "native.d.ts"];
  args.push("--manifest-path", "crates/node/Cargo.toml", "--package-json-path", "package.json");
  if (profile === "release") args.push("--release");
  return tool("@napi-rs/cli", "napi", ...args);
}

/**
 * cargo knows this better, but only the program that generates the loader can ask it, and that takes seconds.
 *
 * @param {Profile} profile
 * @param {string} sources
 */
function isUpToDate(profile, sources) {
  if (!existsSync(STAMP)) return false;
  const last = readJson(STAMP);
  return last.profile === profile && last.sources === sources && last.products === describeProducts();
}

/** The contents of everything the addon is made from. */
function hashSources() {
  const hash = createHash("sha256");
  const isSource = (/** @type {string} */ file) => /^(crates\/|Cargo\.|\.cargo\/|package(-lock)?\.json$)/.test(file);
  for (const file of listFiles().filter(isSource).sort()) {
    hash.update(`${file}\0`).update(readFileSync(inProject(file))).update("\0");
  }
  return hash.digest("hex");
}

/** What a build writes, so that one that went past this script is noticed. */
function describeProducts() {
  const files = [`opencode-embedded.${currentPlatform().name}.node`, "native.js", "native.d.ts"];
  return files.map((file) => {
    const found = statSync(inProject(file), { throwIfNoEntry: false });
    return `${file} ${found?.size} ${found?.mtimeMs}`;
  }).join("\n");
}

async function requireCargo() {
  if (await isInstalled(cargo("--version"))) return;
  throw new Failure("cargo does not run: install a Rust toolchain (https://rustup.rs), then run this again");
}
