// A program that is run while the terminal shows how far it is.

import { Failure } from "./failure.mjs";
import { run } from "./process.mjs";
import { bold, dim, formatDuration, green, red, startProgress } from "./terminal.mjs";

/**
 * Runs a program that has to succeed.
 *
 * @param {string} title
 * @param {readonly string[]} command
 * @param {{ env?: NodeJS.ProcessEnv }} [options]
 */
export async function runTask(title, command, options) {
  const progress = startProgress(bold(title));
  let result;
  let took;
  try {
    result = await run(command, { ...options, onLine: progress.say });
  } finally {
    took = progress.end();
  }
  console.log(`${result.code === 0 ? green("done") : red("failed")}  ${title}  ${dim(formatDuration(took))}`);
  if (result.code === 0) return;
  console.log(result.output.trimEnd());
  throw new Failure(`${title} failed: ${command[0]} ended with exit code ${result.code}`);
}
