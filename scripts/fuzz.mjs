// Looks for inputs that break the decoders: npm run fuzz [-- target] [--seconds n].
// Targets in `fuzz/` are guided by coverage. Without a named target, random tests run first: of what has no target.

import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { Failure, runScript } from "./lib/failure.mjs";
import { run, runInForeground } from "./lib/process.mjs";
import { inProject } from "./lib/project.mjs";
import { cargo, tool } from "./lib/tools.mjs";

const TARGETS = ["anthropic", "chat", "responses"];

/** The tests that look for inputs by themselves. Each reads how many from the environment. */
const RANDOM = [
  cargo("test", "--quiet", "--locked", "--package", "opencode-protocol", "--test", "fuzz"),
  cargo("test", "--quiet", "--locked", "--package", "opencode-server", "--lib", "path::"),
  tool("jest", "jest", "--testTimeout=1000000000", "__test__/sdk/sse-fuzz"),
];
const RANDOM_CASES = "100000";

/** The instrumentation of libFuzzer. These flags need no nightly compiler. */
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
  // A named platform keeps the instrumentation out of build scripts.
  const place = ["--target", PLATFORM, "--target-dir", inProject("target/fuzz")];
  const manifest = ["--manifest-path", inProject("fuzz/Cargo.toml")];
  const code = await runInForeground(cargo("build", "--locked", "--profile", "fuzz", ...manifest, ...place));
  delete process.env.RUSTFLAGS;
  if (code !== 0) throw new Failure("The fuzzing targets were not built");
}

/** @param {string} target @param {string} seconds */
async function fuzz(target, seconds) {
  const found = inProject("target/fuzz/corpus", target);
  const crashes = inProject("target/fuzz/crashes", target);
  for (const folder of [found, crashes]) mkdirSync(folder, { recursive: true });
  const { code, stderr } = await run([
    inProject("target/fuzz", PLATFORM, "fuzz", target),
    `-max_total_time=${seconds}`,
    `-artifact_prefix=${crashes}/`,
    "-print_final_stats=1",
    "-timeout=10",
    found,
    inProject("fuzz/corpus", target),
  ]);
  const executions = Number(/number_of_executed_units: *(\d+)/.exec(stderr)?.[1] ?? 0);
  if (code !== 0) process.stderr.write(stderr.slice(-8000));
  process.stdout.write(`${target}: ${executions} executions, ${code === 0 ? "no crash" : `a crash in ${crashes}`}\n`);
  return { executions, crashed: code !== 0 };
}

await runScript(async () => {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Failure("The fuzzer runs on Linux x64");
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: "string", default: "600" } },
  });
  if (!/^[1-9]\d*$/.test(values.seconds))
    throw new Failure(`--seconds is a whole number from 1 on, got ${values.seconds}`);
  const unknown = positionals.find((name) => !TARGETS.includes(name));
  if (unknown !== undefined) throw new Failure(`No target ${unknown}. The targets are ${TARGETS.join(", ")}`);

  let failed = false;
  if (positionals.length === 0) {
    process.env.PROPTEST_CASES = RANDOM_CASES;
    process.env.FUZZ_CASES = RANDOM_CASES;
    for (const command of RANDOM) failed = (await runInForeground(command)) !== 0 || failed;
  }
  await build();
  const targets = positionals.length === 0 ? TARGETS : positionals;
  const results = [];
  for (const target of targets) results.push(await fuzz(target, values.seconds));
  const executions = results.reduce((sum, result) => sum + result.executions, 0);
  const crashes = results.filter((result) => result.crashed).length;
  process.stdout.write(`${targets.length} targets, ${executions} executions, ${crashes} crashes\n`);
  if (failed || crashes > 0) process.exitCode = 1;
});
