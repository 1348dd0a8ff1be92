// The published packages, the checks before publication, and the calls of npm.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { checkBinary } from "./binary.mjs";
import { Failure } from "./failure.mjs";
import { TARBALLS, tarballOf } from "./pack.mjs";
import { binaryName, listPlatforms, platformPackageName } from "./platforms.mjs";
import { run } from "./process.mjs";
import { readJson, readManifest } from "./project.mjs";
import { npm } from "./tools.mjs";

/**
 * @typedef {import("./platforms.mjs").Platform} Platform
 * @typedef {{ name: string, file: string }} Tarball
 */

/**
 * Checks that the tag names this version, and that every tarball exists with the right content. Returns the tarballs in
 * the order of publication: the package is the last one, so that it never depends on a package that is not published
 * yet.
 *
 * @param {string | undefined} tag
 * @param {string} [folder] The folder of the tarballs.
 * @returns {Promise<Tarball[]>}
 */
export async function checkRelease(tag, folder = TARBALLS) {
  const { name, version } = readManifest();
  if (tag === undefined) throw new Failure(`Pass the tag of the release: node scripts/publish.mjs v${version}`);
  if (tag !== `v${version}`)
    throw new Failure(`The tag is ${tag}, but the version of package.json is ${version}: use the tag v${version}`);
  const platforms = listPlatforms();
  const tarballs = requireTarballs([...platforms.map(platformPackageName), name], folder);
  for (const [index, tarball] of tarballs.entries()) await checkTarball(tarball, platforms[index]);
  return tarballs;
}

/**
 * The tarballs of these packages. Throws a `Failure` if one is missing.
 *
 * @param {readonly string[]} names
 * @param {string} [folder] The folder of the tarballs.
 * @returns {Tarball[]}
 */
export function requireTarballs(names, folder = TARBALLS) {
  const tarballs = names.map((name) => ({ name, file: path.join(folder, tarballOf(name)) }));
  const missing = tarballs.filter(({ file }) => !existsSync(file)).map(({ name }) => name);
  if (missing.length === 0) return tarballs;
  throw new Failure(`tarballs/ lacks ${missing.join(", ")}: build every binary, then run npm run pack -- --prebuilt`);
}

/**
 * @param {Tarball} tarball
 * @param {Platform} [platform] The platform of the binary in it.
 */
function checkTarball({ name, file }, platform) {
  return inScratchFolder(async (folder) => {
    await mustRun(["tar", "-xzf", file, "-C", folder]);
    const manifest = readJson(path.join(folder, "package/package.json"));
    const { version } = readManifest();
    if (manifest.name !== name || manifest.version !== version) {
      throw new Failure(`${path.basename(file)} holds ${manifest.name}@${manifest.version}, not ${name}@${version}`);
    }
    if (platform !== undefined) checkBinary(platform, path.join(folder, "package", binaryName(platform)));
  });
}

/**
 * Publishes a tarball, unless the registry has this version. So an interrupted release can be repeated as a whole.
 *
 * @param {Tarball} tarball
 * @param {NodeJS.ProcessEnv} [env] The environment of npm.
 * @returns {Promise<boolean>} False if the version was already published.
 */
export function publish({ name, file }, env = process.env) {
  return inScratchFolder(async (folder) => {
    const config = await writeConfig(path.join(folder, "npmrc"), env);
    const { version } = readManifest();
    if (await isPublished(`${name}@${version}`, config, env)) return false;
    // A prerelease must not become the version that `npm install` selects.
    const tag = version.includes("-") ? "next" : "latest";
    await mustRun(npm("publish", file, "--access", "public", "--tag", tag, "--ignore-scripts", ...config), env);
    return true;
  });
}

/**
 * @param {string} release
 * @param {readonly string[]} config
 * @param {NodeJS.ProcessEnv} env
 */
async function isPublished(release, config, env) {
  const { code, stdout, output } = await run(npm("view", release, "version", "--json", ...config), { env });
  if (code === 0) return stdout.trim() !== "";
  if (output.includes("E404")) return false;
  throw new Failure(`npm view ${release} failed:\n${output}`);
}

/**
 * The flags that make npm use NPM_TOKEN, which it reads only from a file.
 *
 * @param {string} file
 * @param {NodeJS.ProcessEnv} env
 */
async function writeConfig(file, env) {
  if (!env.NPM_TOKEN) return [];
  const registry = (await mustRun(npm("config", "get", "registry"), env)).trim();
  // npm replaces the variable, so that the token is not written to the file.
  writeFileSync(file, `${registry.replace(/^\w+:/, "")}:_authToken=\${NPM_TOKEN}\n`);
  return ["--userconfig", file];
}

/**
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} [env]
 */
async function mustRun(command, env = process.env) {
  const { code, stdout, output } = await run(command, { env });
  if (code !== 0) throw new Failure(`${command.slice(0, 3).join(" ")} failed:\n${output}`);
  return stdout;
}

/**
 * @template T
 * @param {(folder: string) => Promise<T>} use
 */
async function inScratchFolder(use) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "opencode-embedded-release-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
