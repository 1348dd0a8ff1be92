// Builds the library of the addon with cargo, which rebuilds only changed crates.

import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { BuildProgress } from "./build-progress.mjs";
import { Failure } from "./failure.mjs";
import { run } from "./process.mjs";
import { inProject } from "./project.mjs";
import { cargo } from "./tools.mjs";

/** @typedef {"release" | "debug"} Profile */

/** The crate of the addon. */
export const CRATE = "opencode-node";

/** Measured: link-time optimisation takes about as long as 700 libraries. */
const RELEASE_LAST_WEIGHT = 700;

/** On two cores. */
const FIRST_BUILD_MINUTES = { debug: 3, release: 11 };

const REFRESH_MS = 1000;

/** Lines of cargo that only show progress. */
const PROGRESS = /^ *(?:Compiling|Downloading|Downloaded|Updating|Blocking) .*\n/gm;

/** Enables the features that the tests of the workspace enable, so that both share the built libraries. */
export const AS_TESTED = ["--features", `${CRATE}/as-tested`];

/** @type {Record<Profile, string[]>} */
const FLAGS = { debug: AS_TESTED, release: ["--release"] };

/**
 * A sentence about a build that has to compile everything. Empty if an earlier build has left files.
 *
 * @param {Profile} profile
 */
export function describeFirstBuild(profile) {
  const target = process.env.CARGO_TARGET_DIR ?? inProject("target");
  if (existsSync(path.join(target, profile, "deps"))) return "";
  return `The first ${profile} build of the addon takes about ${FIRST_BUILD_MINUTES[profile]} minutes on two cores.`;
}

/**
 * The folder in which napi writes the types of the addon while it is compiled.
 *
 * @param {Profile} profile
 */
export function typeFolder(profile) {
  return inProject("target/native-types", profile);
}

/**
 * Builds the library unless it is up to date. Returns its file.
 *
 * @param {Profile} profile
 * @param {(line: string) => void} say Receives the progress. Not called if no build is needed.
 * @returns {Promise<string>}
 */
export async function buildLibrary(profile, say) {
  const progress = new BuildProgress(profile === "release" ? RELEASE_LAST_WEIGHT : undefined);
  const show = () => say(progress.describe(performance.now()));
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let library = "";
  const format = "--message-format=json-render-diagnostics";
  const command = cargo("build", "--locked", "--color=never", "--package", CRATE, format, ...FLAGS[profile]);
  mkdirSync(typeFolder(profile), { recursive: true });
  const { code, stderr } = await run(command, {
    env: { ...process.env, NAPI_TYPE_DEF_TMP_FOLDER: typeFolder(profile) },
    onStdoutLine(line) {
      const message = JSON.parse(line);
      if (message.reason !== "compiler-artifact") return;
      progress.hear(message, performance.now());
      if (message.target.kind.includes("cdylib")) [library] = message.filenames;
    },
    onLine(line) {
      if (/^(Updating|Blocking|Downloading|Downloaded) /.test(line)) say(line);
      if (timer !== undefined || !line.startsWith("Compiling ")) return;
      progress.begin(performance.now());
      timer = setInterval(show, REFRESH_MS);
      show();
      void readPackages().then((tree) => progress.expect(tree));
    },
  }).finally(() => clearInterval(timer));
  if (code !== 0)
    throw new Failure("The addon could not be built: cargo prints the reason above", stderr.replace(PROGRESS, ""));
  return library;
}

/** The packages of the addon, one per line. Empty if cargo cannot list them, and then they are not counted. */
async function readPackages() {
  const flags = ["--locked", "--edges", "normal,build", "--prefix", "none", "--no-dedupe", "--format", "{p}"];
  const { code, stdout } = await run(cargo("tree", "--package", CRATE, ...flags));
  return code === 0 ? stdout : "";
}
