import { encodeJson } from "../client/request.js";
import { describe } from "./checks.js";
import { registration, words } from "./registration.js";
import { Signals } from "./signals.js";
import type { PtyEnvironmentContext, PtyEnvironmentHook } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { NativeAttendance } from "./native-types.js";

/**
 * The functions of a host that give variables to its terminals. The host calls all of them, and the last registered
 * one wins.
 */
export class TerminalEnvironment {
  #connection;
  /** In the order of their registration. */
  #hooks: readonly PtyEnvironmentHook[] = [];
  /** Set while a function is registered or called. */
  #attendance: NativeAttendance | undefined = undefined;
  /** The signals of the waiting terminals. */
  #signals: Signals<number> = new Signals();

  constructor(connection: NativeConnection) {
    this.#connection = connection;
  }

  register(given: PtyEnvironmentHook) {
    if (typeof given !== "function") throw new TypeError(`ptys.environment takes a function, got ${describe(given)}`);
    // A new function, because a caller may register the same function twice.
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

  /** A function that was called may still answer, and receives the end of its request, after its removal. */
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
    // If one function failed, the others can stop.
    if (answer.isFailure) this.#signals.abort(id);
    else this.#signals.finish(id);
    this.#stopUnlessNeeded();
  }

  #end(id: number) {
    this.#signals.abort(id);
    this.#stopUnlessNeeded();
  }

  /**
   * Returns the answer as JSON. A terminal does not start with a part of its variables, because it might run a wrong
   * program or reach a wrong server.
   */
  async #collect(context: PtyEnvironmentContext, signal: AbortSignal) {
    try {
      const given = await Promise.all(
        this.#hooks.map(async (hook) => readVariables(await hook({ ...context }, { signal }))),
      );
      // Fails if the text is longer than a string can be.
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

/** @param given The value that a function returned. */
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
