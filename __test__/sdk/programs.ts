import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Nothing here takes that long unless it hangs. */
const timeout = 110_000;

/** Runs a program of this folder until it ends by itself, and gives what it wrote as JSON. */
export async function runProgram(program: string, ...words: string[]) {
  const file = path.join(__dirname, "programs", program);
  const { stdout, stderr } = await run(process.execPath, [file, ...words], { timeout });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}
