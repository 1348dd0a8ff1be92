import { disposable } from "./disposable.js";
import type { Registration } from "../index.js";

/**
 * What is given for something that can be taken back.
 *
 * @param remove Twice is harmless.
 */
export function registration(remove: () => void): Registration {
  return disposable({ dispose: remove }, remove);
}

/** Characters that are told of what a function has thrown. */
const MOST_WORDS = 1_000;

/** What a function has thrown, which may be anything. */
export function words(error: unknown) {
  try {
    return String(error).slice(0, MOST_WORDS);
  } catch {
    return "an object without words";
  }
}
