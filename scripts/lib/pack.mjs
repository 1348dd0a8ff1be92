// The tarballs of a release: the package, and one package per platform with its binary.

import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleModules } from "./bundle.mjs";
import { Failure } from "./failure.mjs";
import { binaryName, listPlatforms, platformPackageName } from "./platforms.mjs";
import { run } from "./process.mjs";
import { inProject, readManifest } from "./project.mjs";
import { npm } from "./tools.mjs";

/** Members of the manifest that only the development of the package uses. */
const DEVELOPMENT_ONLY = new Set(["scripts", "devDependencies", "napi"]);

/** The folder of the tarballs. */
export const TARBALLS = inProject("tarballs");

/** @typedef {import("./platforms.mjs").Platform} Platform */

/** The platforms for which the project contains a binary. */
export function builtPlatforms() {
  return listPlatforms().filter((platform) => existsSync(inProject(binaryName(platform))));
}

/**
 * Packs the package and these platforms, whose binaries must exist. Returns the files, the package first.
 *
 * @param {readonly Platform[]} platforms
 */
export async function packAll(platforms) {
  rmSync(TARBALLS, { recursive: true, force: true });
  mkdirSync(TARBALLS, { recursive: true });
  const files = [await packRoot()];
  for (const platform of platforms) files.push(await packPlatform(platform));
  return files;
}

async function packRoot() {
  const stage = path.join(TARBALLS, "package");
  const [{ files }] = JSON.parse(await runNpm(inProject(), "pack", "--dry-run", "--json", "--ignore-scripts"));
  for (const { path: file } of files) copy(inProject(file), path.join(stage, file));
  await bundleModules(path.join(stage, "dist"));
  writeFileSync(path.join(stage, "package.json"), `${JSON.stringify(releaseManifest(), null, 2)}\n`);
  return pack(stage);
}

/** The published manifest: it lists the package of every platform, with exactly this version. */
function releaseManifest() {
  const manifest = readManifest();
  const kept = Object.entries(manifest).filter(([member]) => !DEVELOPMENT_ONLY.has(member));
  const platforms = listPlatforms().map((platform) => [platformPackageName(platform), manifest.version]);
  return { ...Object.fromEntries(kept), optionalDependencies: Object.fromEntries(platforms) };
}

/** @param {Platform} platform */
async function packPlatform(platform) {
  const binary = binaryName(platform);
  const stage = path.join(TARBALLS, platform.name);
  const folder = inProject("npm", platform.name);
  for (const file of readdirSync(folder)) copy(path.join(folder, file), path.join(stage, file));
  copy(inProject(binary), path.join(stage, binary));
  copy(inProject("LICENSE"), path.join(stage, "LICENSE"));
  return pack(stage);
}

/**
 * @param {string} from
 * @param {string} to
 */
function copy(from, to) {
  mkdirSync(path.dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/**
 * Packs a staged folder and deletes it.
 *
 * @param {string} stage
 */
async function pack(stage) {
  const flags = ["--json", "--ignore-scripts", "--pack-destination", TARBALLS];
  const [{ filename }] = JSON.parse(await runNpm(stage, "pack", ...flags));
  rmSync(stage, { recursive: true });
  return path.join(TARBALLS, filename);
}

/**
 * The file name that npm gives to the tarball of a package.
 *
 * @param {string} name
 */
export function tarballOf(name) {
  return `${name}-${readManifest().version}.tgz`;
}

/**
 * @param {string} cwd
 * @param {string[]} args
 */
async function runNpm(cwd, ...args) {
  const { code, stdout, output } = await run(npm(...args), { cwd });
  if (code !== 0) throw new Failure(`npm ${args[0]} failed:\n${output}`);
  return stdout;
}
