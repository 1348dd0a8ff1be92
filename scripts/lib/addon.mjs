// The native addon of this platform, in the folder of the project.

import * as fs from "node:fs";
import path from "node:path";
import { buildLibrary, describeFirstBuild } from "./cargo-build.mjs";
import { Failure, messageOf } from "./failure.mjs";
import { currentPlatform } from "./platforms.mjs";
import { inProject, readJson, readManifest } from "./project.mjs";
import { showTask } from "./task.mjs";
import { cargo, isInstalled } from "./tools.mjs";

/**
 * @typedef {import("./cargo-build.mjs").Profile} Profile
 *
 * @typedef {object} Installed What lies in the folder of the project.
 * @property {Profile} profile
 * @property {string} library The file of cargo that it is a copy of.
 * @property {string} original The state of that file.
 * @property {string} copy The state of the copy.
 * @property {number} beganMs When cargo began to look whether the library is up to date.
 *
 * @typedef {typeof showTask} Show
 */

const RECORD = inProject("target/addon.json");

/** What cargo reads besides the sources. */
const SETTINGS = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "rust-toolchain.toml"];

/**
 * Makes sure that an up-to-date addon is there: the release build if that is up to date, else the debug build.
 *
 * @param {Show} [show]
 * @returns {Promise<Profile>} Which one it is.
 */
export async function ensureAddon(show = showTask) {
  const installed = readInstalled();
  if (installed?.profile === "release" && isUpToDate(installed)) return "release";
  await buildAddon("debug", show);
  return readInstalled()?.profile ?? "debug";
}

/**
 * Builds the addon in a profile, and puts it into the folder of the project. Without cargo, one that is up to date
 * will do.
 *
 * @param {Profile} profile
 * @param {Show} [show]
 */
export async function buildAddon(profile, show = showTask) {
  if (!(await isInstalled(cargo("--version")))) return requireInstalled(profile);
  const build = async (/** @type {(line: string) => void} */ say) => {
    const beganMs = Date.now();
    const library = await buildLibrary(profile, say);
    install({ profile, library, beganMs });
  };
  await show(`Building the addon (${profile})`, build, describeFirstBuild(profile));
}

/** @param {Profile} profile */
function requireInstalled(profile) {
  const problem = describeProblem(profile);
  if (problem === undefined) return;
  throw new Failure(
    `cargo does not run, and ${problem}: install a Rust toolchain (https://rustup.rs), then run this again`,
  );
}

/** @param {Profile} profile */
function describeProblem(profile) {
  const installed = readInstalled();
  if (installed === undefined) return "no addon was built here";
  if (!isUpToDate(installed)) return "the addon here is older than its sources";
  return installed.profile === profile
    ? undefined
    : `the addon here is the ${installed.profile} build, not the ${profile} build`;
}

/** Where the package looks for the addon of this platform. */
export function addonFile() {
  return inProject(`${readManifest().napi.binaryName}.${currentPlatform().name}.node`);
}

/** @returns {Installed | undefined} Nothing where the file was put there by another program. */
function readInstalled() {
  if (!fs.existsSync(RECORD)) return undefined;
  const installed = readJson(RECORD);
  return installed.copy === stateOf(addonFile()) ? installed : undefined;
}

/** @param {Pick<Installed, "profile" | "library" | "beganMs">} built */
function install(built) {
  const last = readInstalled();
  const original = stateOf(built.library);
  if (last?.library !== built.library || last.original !== original) replace(built.library, addonFile());
  fs.mkdirSync(path.dirname(RECORD), { recursive: true });
  fs.writeFileSync(RECORD, JSON.stringify({ ...built, original, copy: stateOf(addonFile()) }));
}

/**
 * Puts a copy under the name in one step: a program that loads it meanwhile finds the old file or the new one.
 *
 * @param {string} from
 * @param {string} to
 */
function replace(from, to) {
  const temporary = to.replace(/\.node$/, `.${process.pid}.node`);
  fs.copyFileSync(from, temporary, fs.constants.COPYFILE_FICLONE);
  try {
    fs.renameSync(temporary, to);
  } catch (error) {
    const name = path.basename(to);
    throw new Failure(
      `${name} could not be replaced: end the programs that use it, then run this again (${messageOf(error)})`,
    );
  }
}

/** @param {string} file */
function stateOf(file) {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found === undefined ? "none" : `${found.size} ${found.mtimeMs}`;
}

/**
 * Whether nothing that the library is made from has changed since. This is what cargo looks at too, but cargo
 * cannot be asked without a build.
 *
 * @param {Installed} installed
 */
function isUpToDate({ library, beganMs }) {
  const record = library.replace(/\.[^.]+$/, ".d");
  if (!fs.existsSync(record)) return false;
  const manifests = fs.readdirSync(inProject("crates")).map((crate) => `crates/${crate}/Cargo.toml`);
  const settings = [...SETTINGS, ...manifests].map((file) => inProject(file)).filter((file) => fs.existsSync(file));
  const sources = readDepInfo(fs.readFileSync(record, "utf8"));
  return sources.length > 0 && [...sources, ...settings].every((file) => isOlder(file, beganMs));
}

/**
 * @param {string} file
 * @param {number} timeMs
 */
function isOlder(file, timeMs) {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs < timeMs;
}

/**
 * The files that a library is made from, in the form of a makefile: `library: file file`.
 *
 * @param {string} text Blanks within a name have a backslash before them.
 */
export function readDepInfo(text) {
  const [, files = ""] = text.match(/^(?:[^\n]*?[^\\]): (.*)$/m) ?? [];
  return Array.from(files.matchAll(/(?:\\ |\S)+/g), ([file]) => file.replaceAll("\\ ", " "));
}
