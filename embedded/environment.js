"use strict";

const { encodeJson } = require("../client/request.js");
const { describe } = require("./checks.js");
const { registration, words } = require("./registration.js");

/**
 * @typedef {import("../index.js").PtyEnvironmentContext} PtyEnvironmentContext
 * @typedef {import("../index.js").PtyEnvironmentHook} PtyEnvironmentHook
 */

/** The functions of a host that give variables to its terminals. All of them are asked; the one that came last wins. */
class TerminalEnvironment {
  #connection;
  /** @type {readonly PtyEnvironmentHook[]} In the order of their registration. */
  #hooks = [];
  /** @type {import("./native.js").NativeAttendance | undefined} There is one while there is a function. */
  #attendance = undefined;

  /** @param {import("./connection.js").NativeConnection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /** @param {PtyEnvironmentHook} given */
  register(given) {
    if (typeof given !== "function") throw new TypeError(`ptys.environment takes a function, got ${describe(given)}`);
    // Not the caller's own function, which may be registered twice.
    const hook = (/** @type {PtyEnvironmentContext} */ context) => given(context);
    this.#attendance ??= this.#connection.attend("askedEnvironments", (request) => void this.#answer(request));
    this.#hooks = [...this.#hooks, hook];
    return registration(() => this.#remove(hook));
  }

  /** @param {PtyEnvironmentHook} hook */
  #remove(hook) {
    this.#hooks = this.#hooks.filter((other) => other !== hook);
    if (this.#hooks.length > 0) return;
    this.#attendance?.stop();
    this.#attendance = undefined;
  }

  /** @param {string} request */
  async #answer(request) {
    const { id, ...context } = JSON.parse(request);
    this.#connection.answerEnvironment(id, await this.#collect(context));
  }

  /**
   * The answer as JSON. The terminal does not begin with a part of what it was to get: that might be the wrong program,
   * or the wrong server.
   *
   * @param {PtyEnvironmentContext} context
   */
  async #collect(context) {
    try {
      const given = await Promise.all(this.#hooks.map(async (hook) => readVariables(await hook({ ...context }))));
      // No string holds what is too large.
      return encodeJson({ variables: given.flat() });
    } catch (error) {
      const { cwd, directory } = context;
      this.#connection.warn(`A function of ptys.environment failed and a terminal does not begin: ${words(error)}`, {
        cwd,
        directory,
      });
      return encodeJson({ error: words(error) });
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
