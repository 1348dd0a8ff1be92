import { disposable } from "./disposable.js";
import type { Registration } from "../index.js";

/**
 * The object that a caller gets for something that it can remove.
 *
 * @param remove May be called twice.
 */
export function registration(remove: () => void): Registration {
  return disposable({ dispose: remove }, remove);
}

/** Longest text of a thrown value in the log, in UTF-16 code units. */
const MOST_WORDS = 1_000;

/** The text of a thrown value, which may be anything. */
export function words(error: unknown) {
  try {
    return String(error).slice(0, MOST_WORDS);
  } catch {
    return "an object without words";
  }
}
