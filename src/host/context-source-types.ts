// The public types of Context Sources that the program registers.

import type { JsonValue, RegisterOptions, Registration, StandardSchema } from "../index.js";

/** The result of a `load` that could not observe the value. `unavailable` creates it. */
export interface Unavailable {
  readonly unavailable: string;
}

/** The context of one observation. */
export interface ContextSourceContext {
  /** Aborts when the result is not needed any more: the time is over, the session was interrupted, or the host closes. */
  readonly signal: AbortSignal;
  /** The session whose next Provider Turn is prepared. */
  readonly sessionID: string;
  /** The agent of that turn. */
  readonly agent: string;
  /** The Location of the session. */
  readonly location: { readonly directory: string };
}

/** A Context Source of the program: one subject that the model is informed about. */
export interface ContextSource<Value extends JsonValue = JsonValue> {
  /**
   * The name of the source: `<namespace>/<name>`, in lower-case letters, digits and `._-`, such as `"acme/branch"`. The
   * namespace `core` is reserved. Sources are in the order of their keys.
   */
  readonly key: string;
  /**
   * True if no Context Epoch begins without the source: while it is unavailable, prompts wait. Default: `false`, so the
   * model receives the source when it is available.
   */
  readonly required?: boolean | undefined;
  /**
   * Observes the value, once per Safe Provider-Turn Boundary. `undefined` means that there is no information now. If it
   * throws, returns `unavailable(…)` or takes too long, the information that the model has stays valid.
   */
  load(context: ContextSourceContext): Value | Unavailable | undefined | Promise<Value | Unavailable | undefined>;
  /** Returns the complete text for a value. It must not be empty. */
  baseline(value: Value): string;
  /** Returns the text for a model that knows `previous`. Default: the text of `baseline`. */
  update?(previous: Value, current: Value): string;
  /**
   * Returns the text that tells the model, after the source is gone, that its information is no longer valid. It is stored
   * with the value. Default: a new Baseline System Context without the source replaces the former one.
   */
  removal?(value: Value): string;
  /** A schema that checks each value, also a value that an earlier version of the program stored. Default: none. */
  readonly schema?: StandardSchema<unknown, Value> | undefined;
  /** Maximum time of an observation in milliseconds, from 1 to 10000. Default: 5000. */
  readonly timeoutMs?: number | undefined;
}

/** The Context Sources of the program. */
export interface HostContextSources {
  /**
   * Registers a Context Source, for all Locations of the host or for one. Each session observes it at its next Safe
   * Provider-Turn Boundary: a session without this source receives the text of `baseline` once. Disposing the
   * registration removes the source at the next boundary. Neither wakes a session.
   *
   * @throws `InvalidOptionError` with the wrong member as `option`.
   * @example
   * ```ts
   * using branch = opencode.contextSources.register({
   *   key: "acme/branch",
   *   load: async ({ location }) => currentBranch(location.directory),
   *   baseline: (branch) => `The current branch is ${branch}.`,
   * })
   * ```
   */
  register<Value extends JsonValue>(source: ContextSource<Value>, options?: RegisterOptions): Registration;
}
