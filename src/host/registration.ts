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

/** True for a promise of any realm, and for an object that `await` takes for one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && "then" in value && typeof value.then === "function";
}

/** The text of a thrown value, which may be anything. */
export function words(error: unknown) {
  try {
    return String(error).slice(0, MOST_WORDS);
  } catch {
    return "an object without words";
  }
}
