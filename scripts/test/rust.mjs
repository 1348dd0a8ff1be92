// The Rust stages: tests, lints, format, generated files.

import { existsSync, readFileSync } from "node:fs";
import { AS_TESTED, CRATE } from "../lib/cargo-build.mjs";
import { run } from "../lib/process.mjs";
import { inProject } from "../lib/project.mjs";
import { cargo, isInstalled } from "../lib/tools.mjs";
import { mustRun, programStage, runChecks, withoutNoise } from "./checks.mjs";

/** @typedef {import("./report.mjs").Stage} Stage */

/**
 * Adds the crate of the addon, which has no tests, so that the build of one crate uses the features of the workspace.
 */
const WITH_ADDON = ["--package", CRATE, ...AS_TESTED];

export const format = programStage("Rust formatting", () => cargo("fmt", "--all", "--check"));

export const clippy = programStage("Rust lints", () =>
  cargo("clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"),
);

/**
 * `cargo xtask` alone would compile its libraries with other features than the tests.
 *
 * @type {Stage}
 */
export const codegen = {
  title: "Generated files are up to date",
  run: (say) =>
    runChecks(
      [
        [
          "cargo xtask codegen",
          async () => {
            const build = ["--package", "xtask", "--bin", "xtask", "--message-format=json-render-diagnostics"];
            const messages = await mustRun(cargo("build", "--locked", ...build, ...WITH_ADDON), {
              onLine: say,
              onStdoutLine() {},
            });
            await mustRun([findExecutable(messages), "codegen", "--check"]);
          },
        ],
      ],
      say,
    ),
};

/** @param {string} messages Messages of cargo about a build, one per line. */
function findExecutable(messages) {
  const all = messages
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return all.find(({ executable }) => typeof executable === "string").executable;
}
/** Includes private items, because the documentation is for developers. */
export const documentation = programStage("Rust documentation", () => {
  const deny = ["--config", 'build.rustdocflags=["-D", "warnings"]'];
  return cargo("doc", "--workspace", "--no-deps", "--document-private-items", "--locked", ...deny);
});

/** @type {Stage} */
export const rustTests = {
  title: "Rust tests",
  takesFilters: true,
  async run(say, filters) {
    const { packages, names } = splitFilters(filters);
    const result = await runRustTests([...packages, ...WITH_ADDON, "--tests"], names, say);
    if (result.passed > 0 || result.failures.length > 0) return result;
    return {
      passed: 0,
      failures: [{ name: "no test matches", detail: `No test name contains ${names.join(" or ")}` }],
    };
  },
};

/**
 * @param {readonly string[]} targets
 * @param {readonly string[]} names
 * @param {(line: string) => void} say
 */
async function runRustTests(targets, names, say) {
  const common = [...targets, "--locked", "--no-fail-fast", "--color=never"];
  if (!(await isInstalled(cargo("nextest", "--version"))))
    return runCargoTest(cargo("test", ...common, "--", ...names), say);
  const quiet = ["--status-level=fail", "--failure-output=final", "--hide-progress-bar", "--no-tests=pass"];
  const { code, output } = await runTests(cargo("nextest", "run", ...common, ...quiet, ...names), say);
  const counts = countNextest(output);
  // nextest counts tests that the filters exclude as skipped.
  return judge(code, output, names.length === 0 ? counts : { ...counts, ignored: 0 });
}

/**
 * A filter that is the folder of a crate, such as `runtime`, selects that crate. Any other filter is a part of the
 * names of tests.
 *
 * @param {readonly string[]} filters
 */
export function splitFilters(filters) {
  const crates = filters.map(packageIn).filter((name) => name !== undefined);
  return {
    packages: crates.length === 0 ? ["--workspace"] : crates.flatMap((name) => ["--package", name]),
    names: filters.filter((filter) => packageIn(filter) === undefined),
  };
}

/**
 * @param {string} folder
 * @returns {string | undefined}
 */
function packageIn(folder) {
  const manifest = [`crates/${folder}`, folder]
    .map((place) => inProject(place, "Cargo.toml"))
    .find((file) => existsSync(file));
  return manifest && readFileSync(manifest, "utf8").match(/^\[package\]\nname = "(.+)"$/m)?.[1];
}

/** @type {Stage} */
export const docTests = {
  title: "Rust doc tests",
  run: (say) => runCargoTest(cargo("test", "--workspace", "--doc", "--locked", "--no-fail-fast", "--color=never"), say),
};

/**
 * @param {readonly string[]} command
 * @param {(line: string) => void} say
 */
async function runCargoTest(command, say) {
  const { code, output } = await runTests(command, say);
  return judge(code, output, countCargoTest(output));
}

/**
 * @param {readonly string[]} command
 * @param {(line: string) => void} say
 */
function runTests(command, say) {
  // A failed assertion prints its place. A backtrace adds no information.
  return run(command, { env: { ...process.env, RUST_BACKTRACE: "0" }, onLine: say });
}

/** @typedef {{ passed: number, failed: string[], ignored: number }} Counts */

/**
 * @param {number} code
 * @param {string} output
 * @param {Counts} counts
 * @returns {import("./report.mjs").Result}
 */
function judge(code, output, { passed, failed, ignored }) {
  const names = [...failed];
  // If the code does not compile, or a binary was killed, no test is reported as failed.
  if (code !== 0 && names.length === 0) names.push("the tests did not run to their end");
  const failures = names.map((name) => ({ name, detail: "" }));
  if (failures.length > 0) failures[failures.length - 1].detail = withoutNoise(output);
  if (ignored > 0) failures.push({ name: `${ignored} ignored`, detail: "A test either runs or is deleted." });
  return { passed, failures };
}

/** A line such as `    FAIL [   0.108s] (12/80) opencode-store log::grows`. */
const NEXTEST_FAILURE = /^\s+[A-Z-]+(?: \d+)? \[ *[\d.]+s\] (?:\([^)]*\) )?(.+)$/gm;

/**
 * @param {string} output
 * @returns {Counts}
 */
function countNextest(output) {
  const summary = output.split("\n").find((line) => /^\s+Summary \[/.test(line)) ?? "";
  // After the summary every failed test is listed again, with its output.
  const failed = output.slice(output.indexOf(summary)).matchAll(NEXTEST_FAILURE);
  return {
    passed: readCount(summary, "passed"),
    failed: summary === "" ? [] : Array.from(failed, ([, name]) => name),
    ignored: readCount(summary, "skipped"),
  };
}

/**
 * @param {string} output
 * @returns {Counts}
 */
function countCargoTest(output) {
  const results = output.split("\n").filter((line) => line.startsWith("test result: "));
  const sum = (/** @type {string} */ word) => results.reduce((total, line) => total + readCount(line, word), 0);
  const failed = Array.from(output.matchAll(/^test (.+) \.\.\. FAILED$/gm), ([, name]) => name);
  return { passed: sum("passed"), failed, ignored: sum("ignored") };
}

/**
 * @param {string} line
 * @param {string} word
 */
function readCount(line, word) {
  return Number(line.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
}
