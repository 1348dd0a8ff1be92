// The Rust side: tests, lints, formatting, generated files.

import { run } from "../lib/process.mjs";
import { cargo, isInstalled } from "../lib/tools.mjs";
import { programStage, withoutNoise } from "./checks.mjs";

/** @typedef {import("./report.mjs").Stage} Stage */

export const format = programStage("Rust formatting", () => cargo("fmt", "--all", "--check"));

export const clippy = programStage("Rust lints", () =>
  cargo("clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"),
);

/** With what is private: it is for those who work on it. */
export const documentation = programStage("Rust documentation", () => {
  const deny = ["--config", 'build.rustdocflags=["-D", "warnings"]'];
  return cargo("doc", "--workspace", "--no-deps", "--document-private-items", "--locked", ...deny);
});

export const codegen = programStage("Generated files are fresh", () => cargo("xtask", "codegen", "--check"));

/** @type {Stage} */
export const rustTests = {
  title: "Rust tests",
  async run(say) {
    const common = ["--workspace", "--all-targets", "--locked", "--no-fail-fast", "--color=never"];
    if (!(await isInstalled(cargo("nextest", "--version")))) return runCargoTest(cargo("test", ...common), say);
    const quiet = ["--status-level=fail", "--failure-output=final", "--hide-progress-bar"];
    const { code, output } = await runTests(cargo("nextest", "run", ...common, ...quiet), say);
    return judge(code, output, countNextest(output));
  },
};

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
  // A failed assertion says where it is; the way there is noise here.
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
  // Something that does not compile, or a binary that was killed, has no test to blame.
  if (code !== 0 && names.length === 0) names.push("the tests could not be run to their end");
  const failures = names.map((name) => ({ name, detail: "" }));
  if (failures.length > 0) failures[failures.length - 1].detail = withoutNoise(output);
  if (ignored > 0) failures.push({ name: `${ignored} ignored`, detail: "A test either runs or is deleted." });
  return { passed, failures };
}

/** Such as `    FAIL [   0.108s] (12/80) opencode-store log::grows`. */
const NEXTEST_FAILURE = /^\s+[A-Z-]+(?: \d+)? \[ *[\d.]+s\] (?:\([^)]*\) )?(.+)$/gm;

/**
 * @param {string} output
 * @returns {Counts}
 */
function countNextest(output) {
  const summary = output.split("\n").find((line) => /^\s+Summary \[/.test(line)) ?? "";
  // After the summary every failed test is listed again, with what it printed.
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
