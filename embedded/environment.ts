import { encodeJson } from "../client/request.js";
import { describe } from "./checks.js";
import { registration, words } from "./registration.js";
import { Signals } from "./signals.js";
import type { PtyEnvironmentContext, PtyEnvironmentHook } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { NativeAttendance } from "./native.js";

/** The functions of a host that give variables to its terminals. All of them are asked; the one that came last wins. */
export class TerminalEnvironment {
  #connection;
  /** In the order of their registration. */
  #hooks: readonly PtyEnvironmentHook[] = [];
  /** There is one while there is a function, or one is asked. */
  #attendance: NativeAttendance | undefined = undefined;
  /** Of the terminals that wait. */
  #signals: Signals<number> = new Signals();

  constructor(connection: NativeConnection) {
    this.#connection = connection;
  }

  register(given: PtyEnvironmentHook) {
    if (typeof given !== "function") throw new TypeError(`ptys.environment takes a function, got ${describe(given)}`);
    // Not the caller's own function, which may be registered twice.
    const hook: PtyEnvironmentHook = (context, options) => given(context, options);
    this.#attendance ??= this.#connection.attend("askedEnvironments", {
      asked: (request) => void this.#answer(request),
      ended: (id) => this.#end(id),
    });
    this.#hooks = [...this.#hooks, hook];
    return registration(() => this.#remove(hook));
  }

  #remove(hook: PtyEnvironmentHook) {
    this.#hooks = this.#hooks.filter((other) => other !== hook);
    this.#stopUnlessNeeded();
  }

  /** A function that was asked is heard, and hears the end of its request, although it is taken back. */
  #stopUnlessNeeded() {
    if (this.#hooks.length > 0 || !this.#signals.isEmpty) return;
    this.#attendance?.stop();
    this.#attendance = undefined;
  }

  async #answer({ id, ...context }: PtyEnvironmentContext & { id: number }) {
    const signal = this.#signals.begin(id);
    const answer = await this.#collect(context, signal);
    if (signal.aborted) return;
    this.#connection.answerEnvironment(id, answer.text);
    // Where one function failed, the others need not go on.
    if (answer.isFailure) this.#signals.abort(id);
    else this.#signals.finish(id);
    this.#stopUnlessNeeded();
  }

  #end(id: number) {
    this.#signals.abort(id);
    this.#stopUnlessNeeded();
  }

  /**
   * The answer as JSON. The terminal does not begin with a part of what it was to get: that might be the wrong program,
   * or the wrong server.
   */
  async #collect(context: PtyEnvironmentContext, signal: AbortSignal) {
    try {
      const given = await Promise.all(
        this.#hooks.map(async (hook) => readVariables(await hook({ ...context }, { signal }))),
      );
      // No string holds what is too large.
      return { text: encodeJson({ variables: given.flat() }), isFailure: false };
    } catch (error) {
      if (signal.aborted) return { text: "", isFailure: true };
      const { cwd, directory } = context;
      this.#connection.warn(`A function of ptys.environment failed and a terminal does not begin: ${words(error)}`, {
        cwd,
        directory,
      });
      return { text: encodeJson({ error: words(error) }), isFailure: true };
    }
  }
}

/** @param given What a function gave. */
function readVariables(given: unknown): [string, string][] {
  if (typeof given !== "object" || given === null || Symbol.iterator in given) {
    throw new TypeError(`it must give an object of strings, got ${describe(given)}`);
  }
  const variables = Object.entries(given);
  for (const [name, value] of variables) {
    if (typeof value === "string") continue;
    throw new TypeError(`it must give strings, but ${JSON.stringify(name)} is ${describe(value)}`);
  }
  return variables;
}
