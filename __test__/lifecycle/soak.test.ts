// Tests of the soak test itself: a short run passes, and growing figures are reported.

import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.join(__dirname, "..", "..");
const measures = JSON.stringify(path.join(root, "scripts", "soak", "measure.mjs"));

/** The JSON that a program prints. */
function evaluate(expression: string) {
  const program = `import { growing, growingTurns } from ${measures}; console.log(JSON.stringify(${expression}));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  return JSON.parse(stdout);
}

/** Samples in which all figures have the same value. */
function samples(...figures: number[]) {
  return JSON.stringify(
    figures.map((figure) => ({ memory: figure, descriptors: figure, threads: figure, watches: figure, file: figure })),
  );
}

/** Runs Node.js in the project. */
function runNode(...args: string[]) {
  return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
}

test("refuses a plan that cannot be run, and a system without measurements", () => {
  const { status, stderr } = runNode("scripts/soak.mjs", "--turns", "1", "--sessions", "2");
  const reason = process.platform === "linux" ? "--turns must be at least --sessions" : "runs only on Linux";
  expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
});

if (process.platform === "linux") {
  // Not with `npm run soak`, which compiles the package that other tests load at the same time.
  test("a short soak passes", () => {
    const plan = JSON.stringify({ turns: 12, sessions: 6, hosts: 3 });
    const { status, stdout, stderr } = runNode("--expose-gc", "scripts/soak/run.mjs", plan);
    expect([status, stderr]).toEqual([0, ""]);
    const lines = stdout.trim().split("\n");
    const printed = lines.map((line) => JSON.parse(line));
    expect(printed.at(-1)).toMatchObject({ phase: "hosts", done: 3, memory: expect.any(Number) });
    // The steps took snapshots. Otherwise no watches would be counted.
    const { watches } = printed.findLast(({ phase }) => phase === "turns");
    expect(watches).toBeGreaterThan(15);
  }, 120_000);
}

test("reports figures that grow in the second half, and not figures that grew only in the first", () => {
  expect(evaluate(`growing("turns", ${samples(0, 100_000_000, 100_000_000)})`)).toEqual([]);
  expect(evaluate(`growing("turns", ${samples(0, 100, 200)})`)).toEqual([
    "turns: descriptors grows from 100 to 200",
    "turns: threads grows from 100 to 200",
    "turns: watches grows from 100 to 200",
  ]);
  expect(evaluate(`growing("hosts", ${samples(0, 0, 30_000_000)})`)[0]).toBe("hosts: memory grows from 0 to 30000000");
});

test("reports turns whose use of the file grows", () => {
  expect(evaluate(`growingTurns(${samples(0, 10_000_000, 20_000_000)})`)).toEqual([]);
  expect(evaluate(`growingTurns(${samples(0, 10_000_000, 40_000_000)})`)).toHaveLength(1);
});
