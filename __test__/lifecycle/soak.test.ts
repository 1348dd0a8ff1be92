// The soak: a short one passes, and it finds what grows.

import { spawnSync } from "node:child_process";
import path from "node:path";

const root = path.join(__dirname, "..", "..");
const measures = JSON.stringify(path.join(root, "scripts", "soak", "measure.mjs"));

/** What a program prints, as JSON. */
function evaluate(expression: string) {
  const program = `import { growing, growingTurns } from ${measures}; console.log(JSON.stringify(${expression}));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  return JSON.parse(stdout);
}

/** Samples whose figures are the same number each. */
function samples(...figures: number[]) {
  return JSON.stringify(
    figures.map((figure) => ({ memory: figure, descriptors: figure, threads: figure, watches: figure, file: figure })),
  );
}

test("a short soak passes, where it can measure", () => {
  const args = ["scripts/soak.mjs", "--turns", "12", "--sessions", "6", "--hosts", "3"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (process.platform !== "linux") {
    expect([status, stderr]).toEqual([1, expect.stringContaining("only Linux has")]);
    return;
  }
  expect([status, stderr]).toEqual([0, ""]);
  const lines = stdout.trim().split("\n");
  const printed = lines.map((line) => JSON.parse(line));
  expect(printed.at(-1)).toMatchObject({ phase: "hosts", done: 3, memory: expect.any(Number) });
  // Steps took snapshots: else their watches would not be counted.
  const { watches } = printed.findLast(({ phase }) => phase === "turns");
  expect(watches).toBeGreaterThan(15);
}, 120_000);

test("what grows from the middle on is named, and what grew before is not", () => {
  expect(evaluate(`growing("turns", ${samples(0, 100_000_000, 100_000_000)})`)).toEqual([]);
  expect(evaluate(`growing("turns", ${samples(0, 100, 200)})`)).toEqual([
    "turns: descriptors grows from 100 to 200",
    "turns: threads grows from 100 to 200",
    "turns: watches grows from 100 to 200",
  ]);
  expect(evaluate(`growing("hosts", ${samples(0, 0, 30_000_000)})`)[0]).toBe("hosts: memory grows from 0 to 30000000");
});

test("turns that take more and more of the file are found", () => {
  expect(evaluate(`growingTurns(${samples(0, 10_000_000, 20_000_000)})`)).toEqual([]);
  expect(evaluate(`growingTurns(${samples(0, 10_000_000, 40_000_000)})`)).toHaveLength(1);
});
