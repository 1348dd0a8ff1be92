import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** In milliseconds. Only a program that hangs takes this long. */
const timeout = 110_000;

/** Runs a program of this folder until it ends, and returns its output as parsed JSON. */
export async function runProgram(program: string, ...words: string[]) {
  const file = path.join(__dirname, "programs", program);
  const { stdout, stderr } = await run(process.execPath, [file, ...words], { timeout });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}
