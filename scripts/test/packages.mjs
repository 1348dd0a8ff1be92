// Tests the tarballs of a release as their users install them: in an empty project, without install scripts.

import { copyFileSync, readdirSync } from "node:fs";
import { packAll } from "../lib/pack.mjs";
import { currentPlatform } from "../lib/platforms.mjs";
import { inProject, readJson } from "../lib/project.mjs";
import { npm, tool } from "../lib/tools.mjs";
import { bundlerChecks } from "./bundlers.mjs";
import { mustRun, runChecks } from "./checks.mjs";
import { documentProgramChecks } from "./document-programs.mjs";
import { realmChecks } from "./realms.mjs";
import { runtimeChecks } from "./runtimes.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";
import { typeChecks } from "./type-project.mjs";

/** The folder of the programs that are copied into the project. */
const PROGRAMS = inProject("scripts/test/smoke");

/** @type {import("./report.mjs").Stage} */
export const packages = {
  title: "Packages",
  async run(say) {
    say("npm pack");
    const [root, platform] = await packAll([currentPlatform()]);
    return checkTarballs(root, platform, say);
  },
};

/**
 * @param {string} root The tarball of the package.
 * @param {string} platform The tarball of this platform.
 * @param {(line: string) => void} say
 */
export async function checkTarballs(root, platform, say) {
  const project = createScratch();
  try {
    return await runChecks(checks(root, platform, project), say);
  } finally {
    project.remove();
  }
}

/**
 * @param {string} root
 * @param {string} platform
 * @param {import("./scratch.mjs").Scratch} project
 * @returns {[string, () => unknown][]}
 */
function checks(root, platform, project) {
  const lint = (/** @type {string} */ file) => mustRun(tool("publint", "publint", "run", file, "--strict"));
  const attw = [root, "--profile", "node16", "--no-definitely-typed"];
  return [
    ["publint: the package", () => lint(root)],
    ["publint: the package of the platform", () => lint(platform)],
    ["Are the types wrong?", () => mustRun(tool("@arethetypeswrong/cli", "attw", ...attw))],
    ["install without scripts and without a registry", () => install(project, [root, platform])],
    ...typeChecks(project),
    ...runtimeChecks(project),
    ...realmChecks(project),
    ...bundlerChecks(project),
    ...documentProgramChecks(project),
  ];
}

/**
 * Without the registry, because the packages of the other platforms are not published yet, and a package with the same
 * name of another owner must never be run. npm skips optional dependencies that it cannot download.
 *
 * @param {import("./scratch.mjs").Scratch} project
 * @param {string[]} tarballs
 */
async function install(project, tarballs) {
  project.write("package.json", JSON.stringify({ name: "empty", private: true, type: "module" }));
  for (const file of readdirSync(PROGRAMS)) copyFileSync(`${PROGRAMS}/${file}`, project.path(file));
  const flags = ["--ignore-scripts", "--offline", "--no-audit", "--no-fund"];
  await mustRun(npm("install", ...flags, ...tarballs), { cwd: project.folder, env: userlessEnv(project) });
  const { version } = readJson(project.path("node_modules/opencode-embedded/package.json"));
  if (version !== readJson(inProject("package.json")).version) throw new Error(`Version ${version} was installed`);
}
