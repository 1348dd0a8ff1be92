// Failures that are told to the user in a sentence.

import { red } from "./terminal.mjs";

/** What went wrong is the user's to mend: the message says it, a stack would not help. */
export class Failure extends Error {}

/**
 * What an error says.
 *
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs a script. A `Failure` is shown as its one sentence; anything else is a bug and keeps its stack.
 *
 * @param {() => Promise<void>} main
 */
export async function runScript(main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Failure ? `${red("error")}  ${error.message}` : error);
    process.exitCode = 1;
  }
}
