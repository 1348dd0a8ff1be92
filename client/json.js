"use strict";

const { ClientError } = require("./errors.js");

/**
 * Every body and every event of the contract is an object; anything else was not written by this contract.
 *
 * @param {string} text
 * @returns {Record<string, unknown>}
 */
function parseObject(text) {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) throw malformed("JSON that is not an object");
  return /** @type {Record<string, unknown>} */ (value);
}

/**
 * @param {string} text
 * @returns {unknown}
 */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError("MalformedResponse", { cause });
  }
}

/**
 * @param {string} message
 */
function malformed(message) {
  return new ClientError("MalformedResponse", { cause: new Error(message) });
}

module.exports = { malformed, parseJson, parseObject };
