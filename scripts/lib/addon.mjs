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
 * @typedef {object} Installed The addon in the folder of the project.
 * @property {Profile} profile
 * @property {string} library The file of cargo from which it was copied.
 * @property {string} original The state of that file.
 * @property {string} copy The state of the copy.
 * @property {number} beganMs The time at which cargo began to check whether the library is up to date.
 *
 * @typedef {typeof showTask} Show
 */

const RECORD = inProject("target/addon.json");

/** Files that cargo reads in addition to the sources. */
const SETTINGS = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "rust-toolchain.toml"];

/**
 * Ensures an up-to-date addon: keeps the release build if it is up to date, else makes the debug build.
 *
 * @param {Show} [show]
 * @returns {Promise<Profile>} The profile of the addon.
 */
export async function ensureAddon(show = showTask) {
  const installed = readInstalled();
  if (installed?.profile === "release" && isUpToDate(installed)) return "release";
  await buildAddon("debug", show);
  return readInstalled()?.profile ?? "debug";
}

/**
 * Builds the addon in a profile, and copies it into the folder of the project. Without cargo, an addon that is up to
 * date is accepted.
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
    `cargo cannot be started, and ${problem}. Install a Rust toolchain (https://rustup.rs), then run this again`,
  );
}

/** @param {Profile} profile */
function describeProblem(profile) {
  const installed = readInstalled();
  if (installed === undefined) return "the project has no addon";
  if (!isUpToDate(installed)) return "the addon is older than its sources";
  return installed.profile === profile
    ? undefined
    : `the addon is the ${installed.profile} build, not the ${profile} build`;
}

/** The file from which the package loads the addon of this platform. */
export function addonFile() {
  return inProject(`${readManifest().napi.binaryName}.${currentPlatform().name}.node`);
}

/** @returns {Installed | undefined} Undefined if another program wrote the file. */
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
 * Replaces the file in one step, so that a program that loads it meanwhile finds the old file or the new one.
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
 * True if no source of the library has changed since its build. Cargo makes the same checks, but cannot report them
 * without a build.
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
 * The files from which a library is built, in the form of a makefile: `library: file file`.
 *
 * @param {string} text In file names, a backslash precedes each space.
 */
export function readDepInfo(text) {
  const [, files = ""] = text.match(/^(?:[^\n]*?[^\\]): (.*)$/m) ?? [];
  return Array.from(files.matchAll(/(?:\\ |\S)+/g), ([file]) => file.replaceAll("\\ ", " "));
}
