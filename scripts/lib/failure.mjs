// Failures that a script shows to the user as one sentence.

import { red } from "./terminal.mjs";

/** A failure that the user can correct. The message says how, and a stack would not help. */
export class Failure extends Error {
  /**
   * @param {string} message One sentence.
   * @param {string} [detail] The output of the program that failed. It is shown before the sentence.
   */
  constructor(message, detail = "") {
    super(message);
    this.detail = detail.trimEnd();
  }
}

/**
 * The message of an error, with the detail of a `Failure`.
 *
 * @param {unknown} error
 */
export function messageOf(error) {
  if (error instanceof Failure && error.detail !== "") return `${error.message}\n${error.detail}`;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs a script. A `Failure` is shown as its one sentence. Any other error is a bug and is shown with its stack.
 *
 * @param {() => Promise<void>} main
 */
export async function runScript(main) {
  try {
    await main();
  } catch (error) {
    if (error instanceof Failure && error.detail !== "") console.error(error.detail);
    console.error(error instanceof Failure ? `${red("error")}  ${error.message}` : error);
    process.exitCode = 1;
  }
}
