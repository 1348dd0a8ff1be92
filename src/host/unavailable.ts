// `unavailable`: the value of a Context Source that could not be observed.

import type { Unavailable } from "./context-source-types.js";

/**
 * Creates the result of the `load` of a Context Source that could not observe its value.
 *
 * @param reason The reason, for the log and for the failure of a prompt that waits for a required source.
 */
export function unavailable(reason: string): Unavailable {
  return Object.freeze({ unavailable: String(reason) });
}
