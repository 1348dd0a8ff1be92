// Runs the same checks in every kind of realm in which users run the package: Jest, Vitest, and each runtime alone.

import { cpSync, readdirSync, readFileSync } from "node:fs";
import { inProject } from "../lib/project.mjs";
import { tool } from "../lib/tools.mjs";
import { mustRun } from "./checks.mjs";
import { runtimes } from "./runtimes.mjs";
import { userlessEnv } from "./scratch.mjs";
import { build } from "./type-project.mjs";

/** @typedef {import("./scratch.mjs").Scratch} Scratch */

const PROGRAMS = inProject("scripts/test/realms");

/**
 * @param {Scratch} project The project in which the package is installed.
 * @returns {[string, () => unknown][]}
 */
export function realmChecks(project) {
  return [
    ["a second copy of the package", () => prepare(project)],
    ...runtimes().map((runtime) => aloneUnder(project, runtime)),
    ["realms: Jest", () => runJest(project)],
    ["realms: Vitest, processes", () => runVitest(project, "forks")],
    ["realms: Vitest, contexts", () => runVitest(project, "vmThreads")],
  ];
}

/**
 * @param {Scratch} project
 * @param {import("./runtimes.mjs").Runtime} runtime
 * @returns {[string, () => unknown]}
 */
function aloneUnder(project, { name, program }) {
  return [`realms: ${name}`, () => runChecks(project, program(project.path("built-realms/run.js")))];
}

/** @param {Scratch} project */
function prepare(project) {
  const modules = project.path("node_modules");
  cpSync(`${modules}/opencode-embedded`, `${modules}/second-copy`, { recursive: true });
  for (const file of readdirSync(PROGRAMS))
    project.write(`realms/${file}`, readFileSync(`${PROGRAMS}/${file}`, "utf8"));
  return build(project, "realms", "../built-realms");
}

/** @param {Scratch} project */
function runJest(project) {
  const swc = [inProject("node_modules/@swc/jest"), { jsc: { target: "es2022" }, module: { type: "commonjs" } }];
  const config = {
    rootDir: project.path("realms"),
    testMatch: ["**/*.test.ts"],
    moduleNameMapper: { "^(\\./.*)\\.js$": "$1" },
    transform: { "\\.ts$": swc },
  };
  return runChecks(project, tool("jest", "jest", "--json", "--config", JSON.stringify(config)));
}

/**
 * @param {Scratch} project
 * @param {string} pool
 */
function runVitest(project, pool) {
  const flags = ["--root", project.path("realms"), "--globals", "--pool", pool, "--reporter", "json"];
  return runChecks(project, tool("vitest", "vitest", "run", ...flags));
}

/**
 * @param {Scratch} project
 * @param {readonly string[]} command A program that succeeds if all checks succeed, and prints their number.
 */
async function runChecks(project, command) {
  const output = await mustRun(command, { cwd: project.folder, env: userlessEnv(project) });
  const { numPassedTests } = JSON.parse(output);
  if (!(numPassedTests > 0)) throw new Error(`No check was run:\n${output}`);
}
