// The JavaScript stages: types, lints, and Jest on the built package.

import { inProject, readJson } from "../lib/project.mjs";
import { run } from "../lib/process.mjs";
import { node, tool } from "../lib/tools.mjs";
import { mustRun, runChecks } from "./checks.mjs";
import { checkClone } from "./clone.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";

/** @type {import("./report.mjs").Stage} */
export const types = {
  title: "TypeScript",
  run: (say) =>
    runChecks(
      [
        ["the package and its tests", () => mustRun(tool("typescript", "tsc", "-p", "."))],
        ["the scripts", () => mustRun(tool("typescript", "tsc", "-p", "scripts"))],
        ["a program with a clone that is installed by its path", checkClone],
      ],
      say,
    ),
};

/** @type {import("./report.mjs").Stage} */
export const lint = {
  title: "JavaScript lints and format",
  run: (say) =>
    runChecks(
      [
        ["lints", () => mustRun(tool("oxlint", "oxlint", "--deny-warnings", "."))],
        ["format: npm run format corrects it", () => mustRun(tool("oxfmt", "oxfmt", "--check", "."))],
      ],
      say,
    ),
};

/** Time limit for Jest as a whole on a very busy machine, in milliseconds. Each test has its own limit. */
const TIME_LIMIT_MS = 3_600_000;

/** @type {import("./report.mjs").Stage} */
export const jest = {
  title: "Jest",
  takesFilters: true,
  async run(say, filters) {
    const scratch = createScratch();
    try {
      const file = scratch.path("jest.json");
      const [, program] = tool("jest", "jest");
      const { output } = await run(node(program, "--ci", "--json", `--outputFile=${file}`, ...filters.map(toPattern)), {
        env: userlessEnv(scratch),
        onLine: say,
        timeoutMs: TIME_LIMIT_MS,
      });
      return judge(file, output);
    } finally {
      scratch.remove();
    }
  },
};

/**
 * A pattern for Jest, which searches whole paths. The folders above the project must not match.
 *
 * @param {string} filter A part of the path of a test file.
 */
function toPattern(filter) {
  return [inProject(), filter].map((part) => part.replace(/[.+*?^${}()|[\]\\]/g, "\\$&")).join(".*");
}

/**
 * @param {string} file The report of Jest.
 * @param {string} output
 * @returns {import("./report.mjs").Result}
 */
function judge(file, output) {
  let report;
  try {
    report = readJson(file);
  } catch {
    return { passed: 0, failures: [{ name: "Jest did not write a report", detail: output }] };
  }
  const failures = report.testResults.flatMap(problemsOfFile);
  const skipped = report.numPendingTests + report.numTodoTests;
  if (skipped > 0) failures.push({ name: `${skipped} skipped`, detail: "A test either runs or is deleted." });
  if (!report.success && failures.length === 0) failures.push({ name: "Jest failed", detail: output });
  return { passed: report.numPassedTests, failures };
}

/** @param {{ name: string, status: string, message: string, assertionResults: any[] }} suite */
function problemsOfFile({ name, status, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  // A file that cannot be loaded has no tests.
  if (failed.length === 0 && status === "failed") return [{ name, detail: message }];
  return failed.map((test) => ({ name: test.fullName, detail: withoutInternals(test.failureMessages.join("\n")) }));
}

/** @param {string} stack */
function withoutInternals(stack) {
  return stack
    .split("\n")
    .filter((line) => !/^\s+at .*(node_modules|node:internal)/.test(line))
    .join("\n");
}
