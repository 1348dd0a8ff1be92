"use strict";

const { checkMembers } = require("../client/members.js");
const { encodeJson } = require("../client/request.js");
const { invalidRequest } = require("../client/shape.js");
const { describe } = require("./checks.js");
const { words } = require("./registration.js");
const { Signals } = require("./signals.js");

const METHOD = "location.trust";

/** @type {import("../client/internal.js").ObjectShape} */
const SHAPE = { location: { directory: null }, trusted: null };

/**
 * @typedef {import("../index.js").TrustFunction} TrustFunction
 * @typedef {import("../index.js").LocationTrustInput} LocationTrustInput
 * @typedef {import("./connection.js").NativeConnection} NativeConnection
 */

/**
 * What is collected attends no more, so it is held as long as its connection.
 *
 * @type {WeakMap<NativeConnection, import("./native.js").NativeAttendance>}
 */
const attendances = new WeakMap();

/**
 * Lets the function of the option `trust` decide about each Location.
 *
 * @param {NativeConnection} connection
 * @param {TrustFunction} decide
 */
function answerTrust(connection, decide) {
  /** @type {Signals<number>} */
  const signals = new Signals();
  /** @param {{ id: number, directory: string }} question */
  const answerOne = async ({ id, directory }) => {
    const signal = signals.begin(id);
    const answer = await ask(decide, directory, signal);
    // A late answer is none, and a failure after the abort no mistake.
    if (signal.aborted) return;
    signals.finish(id);
    if (answer.error !== undefined) {
      connection.warn(`The function of the option "trust" decides nothing: ${answer.error}`, { directory });
    }
    connection.answerTrust(id, encodeJson(answer));
  };
  const attendance = connection.attend("askedTrust", {
    asked: (question) => void answerOne(question),
    ended: (id) => signals.abort(id),
  });
  attendances.set(connection, attendance);
}

/**
 * The answer of the function, or why it gave none.
 *
 * @param {TrustFunction} decide
 * @param {string} directory
 * @param {AbortSignal} signal
 */
async function ask(decide, directory, signal) {
  try {
    const trusted = /** @type {unknown} */ (await decide(directory, { signal }));
    if (typeof trusted === "boolean") return { trusted };
    return { error: `it must return true or false, got ${describe(trusted)}` };
  } catch (error) {
    return { error: `it failed: ${words(error)}` };
  }
}

/**
 * `location.trust` of a host.
 *
 * @param {NativeConnection} connection
 */
function createTrust(connection) {
  /** @param {LocationTrustInput} input */
  return async function trust(input) {
    const { directory, trusted } = checkInput(input);
    await connection.trust(directory, trusted);
  };
}

/**
 * Throws the tagged failure `InvalidRequestError`.
 *
 * @param {unknown} input
 */
function checkInput(input) {
  if (!isRecord(input) || typeof input.trusted !== "boolean") {
    throw invalidRequest(`${METHOD} takes { location?, trusted }, where trusted is true or false`, "trusted");
  }
  checkMembers(METHOD, input, SHAPE);
  const location = input.location ?? {};
  if (!isRecord(location)) {
    throw invalidRequest(`location must be { directory }, got ${describe(location)}`, "location");
  }
  const { directory } = location;
  if (directory !== undefined && typeof directory !== "string") {
    throw invalidRequest(`location.directory must be a string, got ${describe(directory)}`, "location.directory");
  }
  return { directory: directory ?? null, trusted: input.trusted };
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

module.exports = { answerTrust, createTrust };
