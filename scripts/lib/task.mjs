// Runs long tasks, with a line in the terminal that shows their progress.

import { Failure } from "./failure.mjs";
import { run } from "./process.mjs";
import { bold, dim, formatDuration, green, red, startProgress } from "./terminal.mjs";

/**
 * Performs the work, and prints its success or failure. Prints nothing for work that succeeds without progress.
 *
 * @template T
 * @param {string} title
 * @param {(say: (line: string) => void) => Promise<T>} work
 * @param {string} [note] A sentence that is printed before the work when it reports progress.
 * @returns {Promise<T>}
 */
export async function showTask(title, work, note = "") {
  /** @type {ReturnType<typeof startProgress> | undefined} */
  let progress;
  const finish = (/** @type {string} */ mark) => {
    if (progress !== undefined) console.log(`${mark}  ${title}  ${dim(formatDuration(progress.end()))}`);
  };
  try {
    const result = await work((line) => {
      if (progress === undefined && note !== "") console.log(note);
      progress ??= startProgress(bold(title));
      progress.say(line);
    });
    finish(green("done"));
    return result;
  } catch (error) {
    finish(red("failed"));
    throw error;
  }
}

/**
 * Runs a program and shows its progress. Fails if its exit code is not 0.
 *
 * @param {string} title
 * @param {readonly string[]} command
 * @param {Pick<import("./process.mjs").RunOptions, "env">} [options]
 */
export function runTask(title, command, options) {
  return showTask(title, (say) => {
    say("");
    return mustSucceed(title, command, { ...options, onLine: say });
  });
}

/**
 * Runs a program and shows nothing: another task uses the terminal.
 *
 * @type {typeof runTask}
 */
export const runQuietly = (title, command, options) => mustSucceed(title, command, { ...options });

/**
 * @param {string} title
 * @param {readonly string[]} command
 * @param {import("./process.mjs").RunOptions} options
 */
async function mustSucceed(title, command, options) {
  const { code, output } = await run(command, options);
  if (code !== 0) throw new Failure(`${title} failed: ${command[0]} exited with code ${code}`, output);
}
