// Searches for inputs that violate the properties of parsers, guided by coverage: npm run fuzz [-- target] [--seconds
// n]. The targets are in `fuzz/`. Found inputs are stored in `target/fuzz`. With --keep, the smallest set of inputs
// that reaches the same code is stored in the repository, and the tests of the crates replay it.

import { mkdirSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { packCorpus, unpackCorpus } from "./lib/corpus.mjs";
import { Failure, runScript } from "./lib/failure.mjs";
import { run, runInForeground } from "./lib/process.mjs";
import { inProject } from "./lib/project.mjs";
import { cargo } from "./lib/tools.mjs";

const TARGETS = [
  "anthropic",
  "attachments",
  "bodies",
  "border",
  "chat",
  "cursors",
  "edit",
  "jsonc",
  "patch",
  "paths",
  "queries",
  "responses",
  "retry",
  "routes",
  "rules",
];

/** Flags for the instrumentation of libFuzzer. They work with a stable compiler. */
const COVERAGE = [
  "-Cpasses=sancov-module",
  "-Cllvm-args=-sanitizer-coverage-level=4",
  "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
  "-Cllvm-args=-sanitizer-coverage-pc-table",
  "-Cllvm-args=-sanitizer-coverage-trace-compares",
].join(" ");
const PLATFORM = "x86_64-unknown-linux-gnu";

async function build() {
  process.env.RUSTFLAGS = COVERAGE;
  // An explicit platform keeps the instrumentation out of build scripts.
  const place = ["--target", PLATFORM, "--target-dir", inProject("target/fuzz")];
  const manifest = ["--manifest-path", inProject("fuzz/Cargo.toml")];
  const code = await runInForeground(cargo("build", "--locked", "--profile", "fuzz", ...manifest, ...place));
  delete process.env.RUSTFLAGS;
  if (code !== 0) throw new Failure("The fuzzing targets were not built: cargo prints the reason above");
}

/** @param {string} target */
const programOf = (target) => inProject("target/fuzz", PLATFORM, "fuzz", target);

/** @param {string} target @param {string} seconds */
async function fuzz(target, seconds) {
  const found = inProject("target/fuzz/corpus", target);
  const crashes = inProject("target/fuzz/crashes", target);
  mkdirSync(crashes, { recursive: true });
  unpackCorpus(target, found);
  const { code, stderr } = await run([
    programOf(target),
    `-max_total_time=${seconds}`,
    `-artifact_prefix=${crashes}/`,
    "-print_final_stats=1",
    "-timeout=10",
    found,
  ]);
  const executions = Number(/number_of_executed_units: *(\d+)/.exec(stderr)?.[1] ?? 0);
  if (code !== 0) process.stderr.write(stderr.slice(-8000));
  process.stdout.write(`${target}: ${executions} executions, ${code === 0 ? "no crash" : `a crash in ${crashes}`}\n`);
  return { executions, crashed: code !== 0 };
}

/** @param {string} target */
async function keep(target) {
  const smallest = inProject("target/fuzz/smallest", target);
  rmSync(smallest, { recursive: true, force: true });
  mkdirSync(smallest, { recursive: true });
  const found = inProject("target/fuzz/corpus", target);
  // Counts which code is reached, not how often. Otherwise thousands of inputs would be kept.
  const { code, stderr } = await run([programOf(target), "-set_cover_merge=1", "-use_counters=0", smallest, found]);
  if (code !== 0) throw new Failure(`The inputs of ${target} were not merged: ${stderr.slice(-2000)}`);
  packCorpus(target, smallest);
}

await runScript(async () => {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Failure("The fuzzer runs only on Linux x64");
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: "string", default: "600" }, keep: { type: "boolean", default: false } },
  });
  if (!/^[1-9]\d*$/.test(values.seconds))
    throw new Failure(`--seconds must be a whole number of at least 1, got ${values.seconds}`);
  const unknown = positionals.find((name) => !TARGETS.includes(name));
  if (unknown !== undefined) throw new Failure(`Unknown target ${unknown}. Use one of ${TARGETS.join(", ")}`);

  await build();
  const targets = positionals.length === 0 ? TARGETS : positionals;
  const results = [];
  for (const target of targets) results.push(await fuzz(target, values.seconds));
  if (values.keep) for (const target of targets) await keep(target);
  const executions = results.reduce((sum, result) => sum + result.executions, 0);
  const crashes = results.filter((result) => result.crashed).length;
  process.stdout.write(`${targets.length} targets, ${executions} executions, ${crashes} crashes\n`);
  if (crashes > 0) process.exitCode = 1;
});
