"use strict";

const { encodeJson } = require("../client/request.js");
const { describe } = require("./checks.js");
const { registration, words } = require("./registration.js");
const { Signals } = require("./signals.js");

/**
 * @typedef {import("../index.js").HandlerOptions} HandlerOptions
 * @typedef {import("../index.js").PtyEnvironmentContext} PtyEnvironmentContext
 * @typedef {import("../index.js").PtyEnvironmentHook} PtyEnvironmentHook
 */

/** The functions of a host that give variables to its terminals. All of them are asked; the one that came last wins. */
class TerminalEnvironment {
  #connection;
  /** @type {readonly PtyEnvironmentHook[]} In the order of their registration. */
  #hooks = [];
  /** @type {import("./native.js").NativeAttendance | undefined} There is one while there is a function, or one is asked. */
  #attendance = undefined;
  /** @type {Signals<number>} Of the terminals that wait. */
  #signals = new Signals();

  /** @param {import("./connection.js").NativeConnection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /** @param {PtyEnvironmentHook} given */
  register(given) {
    if (typeof given !== "function") throw new TypeError(`ptys.environment takes a function, got ${describe(given)}`);
    // Not the caller's own function, which may be registered twice.
    /** @type {PtyEnvironmentHook} */
    const hook = (context, options) => given(context, options);
    this.#attendance ??= this.#connection.attend("askedEnvironments", {
      asked: (request) => void this.#answer(request),
      ended: (id) => this.#end(id),
    });
    this.#hooks = [...this.#hooks, hook];
    return registration(() => this.#remove(hook));
  }

  /** @param {PtyEnvironmentHook} hook */
  #remove(hook) {
    this.#hooks = this.#hooks.filter((other) => other !== hook);
    this.#stopUnlessNeeded();
  }

  /** A function that was asked is heard, and hears the end of its request, although it is taken back. */
  #stopUnlessNeeded() {
    if (this.#hooks.length > 0 || !this.#signals.isEmpty) return;
    this.#attendance?.stop();
    this.#attendance = undefined;
  }

  /** @param {PtyEnvironmentContext & { id: number }} request */
  async #answer({ id, ...context }) {
    const signal = this.#signals.begin(id);
    const answer = await this.#collect(context, signal);
    if (signal.aborted) return;
    this.#connection.answerEnvironment(id, answer.text);
    // Where one function failed, the others need not go on.
    if (answer.isFailure) this.#signals.abort(id);
    else this.#signals.finish(id);
    this.#stopUnlessNeeded();
  }

  /** @param {number} id */
  #end(id) {
    this.#signals.abort(id);
    this.#stopUnlessNeeded();
  }

  /**
   * The answer as JSON. The terminal does not begin with a part of what it was to get: that might be the wrong program,
   * or the wrong server.
   *
   * @param {PtyEnvironmentContext} context
   * @param {AbortSignal} signal
   */
  async #collect(context, signal) {
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

/**
 * @param {unknown} given What a function gave.
 * @returns {[string, string][]}
 */
function readVariables(given) {
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

module.exports = { TerminalEnvironment };
