// Ensures the addon for the later stages.

import { readFileSync } from "node:fs";
import { buildAddon, ensureAddon } from "../lib/addon.mjs";
import { AS_TESTED, CRATE } from "../lib/cargo-build.mjs";
import { NATIVE_TYPES, renderNativeTypes } from "../lib/native-types.mjs";
import { inProject } from "../lib/project.mjs";
import { cargo } from "../lib/tools.mjs";
import { mustBeEmpty, mustRun, runChecks } from "./checks.mjs";

/** @typedef {import("./report.mjs").Stage} Stage */

/** @type {Stage} */
export const addon = {
  title: "Addon",
  async run(say) {
    const profile = await ensureAddon((_title, work) => work(say));
    const result = await runChecks(
      [
        ["the debug addon shares its libraries with the tests", checkSharing],
        ["its types are fresh: node scripts/native-types.mjs", () => checkTypes(profile)],
      ],
      say,
    );
    return { ...result, passed: result.passed + 1, note: `the ${profile} build` };
  },
};

/** @type {Stage} */
export const releaseAddon = {
  title: "Addon",
  async run(say) {
    await buildAddon("release", (_title, work) => work(say));
    return { passed: 1, failures: [], note: "the release build" };
  },
};

/** @param {import("../lib/cargo-build.mjs").Profile} profile */
function checkTypes(profile) {
  const written = readFileSync(inProject(NATIVE_TYPES), "utf8");
  if (renderNativeTypes(profile) !== written) throw new Error(`${NATIVE_TYPES} differs from the types of the addon`);
}

/** A library with other features is a different library. Cargo would compile it, and all that depend on it, twice. */
async function checkSharing() {
  const tested = await listLibraries("--workspace", "--edges", "normal,build,dev");
  const built = await listLibraries("--package", CRATE, ...AS_TESTED, "--edges", "normal,build");
  const others = built.filter((library) => !tested.includes(library) && !library.startsWith(`${CRATE} `));
  mustBeEmpty(
    others.map((library) => `The tests use other features of ${library}: correct the feature as-tested of ${CRATE}`),
  );
}

/** @param {string[]} flags */
async function listLibraries(...flags) {
  const output = await mustRun(cargo("tree", "--locked", "--prefix", "none", "--format", "{p} {f}", ...flags));
  const lines = output.split("\n").map((line) => line.replace(/ \(\*\)$/, "").trim());
  return [...new Set(lines)].filter((line) => line !== "");
}
