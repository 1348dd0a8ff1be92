// Tests the installed package in bundled programs and in single executables.

import { copyFileSync, readFileSync } from "node:fs";
import { currentPlatform, platformPackageName } from "../lib/platforms.mjs";
import { bun, node, tool } from "../lib/tools.mjs";
import { bundleWithEsbuild, bundleWithRollup, bundleWithVite, bundleWithWebpack } from "./bundle.mjs";
import { mustContain, mustRun } from "./checks.mjs";
import { withModel } from "./model.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";

/** @typedef {import("./scratch.mjs").Scratch} Scratch */

/** The marker with which Node finds a program in its own executable. From the documentation of Node. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/**
 * @param {Scratch} project The project in which the package is installed.
 * @returns {[string, () => unknown][]}
 */
export function bundlerChecks(project) {
  /** @type {[string, (project: Scratch) => Promise<string>][]} */
  const bundles = [
    ["esbuild, ESM", (...on) => bundleWithEsbuild("esm", ...on)],
    ["esbuild, CommonJS", (...on) => bundleWithEsbuild("cjs", ...on)],
    ["webpack, ESM", (...on) => bundleWithWebpack("esm", ...on)],
    ["webpack, CommonJS", (...on) => bundleWithWebpack("cjs", ...on)],
    ["Rollup, ESM", (...on) => bundleWithRollup("esm", ...on)],
    ["Rollup, CommonJS", (...on) => bundleWithRollup("cjs", ...on)],
    ["Vite, a server with all packages", bundleWithVite],
  ];
  return [
    ...bundles.map(
      ([name, bundle]) => /** @type {[string, () => unknown]} */ ([name, () => runBundle(project, bundle)]),
    ),
    ["webpack, without the package", () => runExternal(project)],
    ["a bundle with the binary beside it", () => inEmptyFolder((away) => runBundleAway(project, away))],
    ["a bundle without the binary", () => inEmptyFolder((away) => runBundleAlone(project, away))],
    ["bun build --compile", () => inEmptyFolder((away) => runCompiled(project, away))],
    ...singleExecutableChecks(project),
  ];
}

/**
 * Not on macOS, because a changed executable must be signed again.
 *
 * @param {Scratch} project
 * @returns {[string, () => unknown][]}
 */
function singleExecutableChecks(project) {
  if (process.platform === "darwin") return [];
  return [["a single executable application of Node", () => inEmptyFolder((away) => runInjected(project, away))]];
}

/**
 * @param {Scratch} project
 * @param {(project: Scratch) => Promise<string>} bundle
 */
async function runBundle(project, bundle) {
  const file = await bundle(project);
  // A bundle without the package would not test it.
  mustContain(readFileSync(file, "utf8"), "AddonUnavailableError");
  await mustAnswer(project, node(file));
}

/** @param {Scratch} project */
async function runExternal(project) {
  const externals = { "opencode-embedded": "commonjs opencode-embedded" };
  await mustAnswer(project, node(await bundleWithWebpack("cjs", project, externals)));
}

/**
 * @param {Scratch} project
 * @param {Scratch} away
 */
async function runBundleAway(project, away) {
  copyFileSync(await bundleWithEsbuild("esm", project), away.path("ask.mjs"));
  copyBinary(project, away);
  await mustAnswer(away, node(away.path("ask.mjs")));
}

/**
 * @param {Scratch} project
 * @param {Scratch} away
 */
async function runBundleAlone(project, away) {
  copyFileSync(await bundleWithEsbuild("esm", project), away.path("ask.mjs"));
  const failed = await mustAnswer(away, node(away.path("ask.mjs"))).catch((error) => error);
  mustContain(String(failed), `npm install ${platformPackageName(currentPlatform())}@`);
}

/**
 * @param {Scratch} project
 * @param {Scratch} away
 */
async function runCompiled(project, away) {
  const program = away.path("ask.exe");
  await mustRun(bun("build", "--compile", "ask.mjs", "--outfile", program), { cwd: project.folder });
  await mustAnswer(away, [program]);
}

/**
 * @param {Scratch} project
 * @param {Scratch} away
 */
async function runInjected(project, away) {
  const [program, blob] = [away.path("ask.exe"), away.path("ask.blob")];
  const main = await bundleWithEsbuild("cjs", project);
  away.write("sea.json", JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }));
  await mustRun(node("--experimental-sea-config", away.path("sea.json")));
  copyFileSync(process.execPath, program);
  await mustRun(tool("postject", "postject", program, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE));
  copyBinary(project, away);
  await mustAnswer(away, [program]);
}

/**
 * @param {Scratch} project
 * @param {Scratch} away
 */
function copyBinary(project, away) {
  const platform = currentPlatform();
  const binary = `opencode-embedded.${platform.name}.node`;
  copyFileSync(project.path("node_modules", platformPackageName(platform), binary), away.path(binary));
}

/**
 * @param {Scratch} scratch Where it runs.
 * @param {readonly string[]} command
 */
async function mustAnswer(scratch, command) {
  await withModel(async (model) => {
    model.reply({ text: "Hello from the bundle." });
    const env = userlessEnv(scratch, { CONFIG: JSON.stringify(model.config()) });
    mustContain(await mustRun(command, { cwd: scratch.folder, env }), "Hello from the bundle.");
  });
}

/** @param {(away: Scratch) => Promise<void>} use */
async function inEmptyFolder(use) {
  const away = createScratch();
  try {
    await use(away);
  } finally {
    away.remove();
  }
}
