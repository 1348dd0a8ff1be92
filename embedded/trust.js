"use strict";

const { taggedError } = require("../client/errors.js");
const { encodeJson } = require("../client/request.js");
const { describe } = require("./checks.js");
const { words } = require("./registration.js");

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
  const attendance = connection.attend("askedTrust", async (question) => {
    const { id, directory } = JSON.parse(question);
    connection.answerTrust(id, encodeJson(await ask(decide, directory)));
  });
  attendances.set(connection, attendance);
}

/**
 * The answer of the function, or why it gave none.
 *
 * @param {TrustFunction} decide
 * @param {string} directory
 */
async function ask(decide, directory) {
  try {
    const trusted = /** @type {unknown} */ (await decide(directory));
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
    throw invalid("location.trust takes { location?, trusted }, where trusted is true or false");
  }
  checkMembers(input, ["location", "trusted"], "");
  const location = input.location ?? {};
  if (!isRecord(location)) throw invalid(`location must be { directory }, got ${describe(location)}`);
  checkMembers(location, ["directory"], "location.");
  const { directory } = location;
  if (directory !== undefined && typeof directory !== "string") {
    throw invalid(`location.directory must be a string, got ${describe(directory)}`);
  }
  return { directory: directory ?? null, trusted: input.trusted };
}

/**
 * @param {Record<string, unknown>} given
 * @param {readonly string[]} known
 * @param {string} prefix
 */
function checkMembers(given, known, prefix) {
  const unknown = Object.keys(given).find((name) => given[name] !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(
    `location.trust does not take ${prefix}${unknown}; it takes ${known.map((it) => prefix + it).join(" and ")}`,
  );
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {string} message */
function invalid(message) {
  return taggedError({ _tag: "InvalidRequestError", message, kind: "Payload" });
}

module.exports = { answerTrust, createTrust };
