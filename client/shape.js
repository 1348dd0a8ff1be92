"use strict";

// The right shape of an input, shown where a caller wrote a common wrong one.

const { taggedError } = require("./errors.js");

/**
 * @typedef {import("./internal.js").Input} Input
 * @typedef {import("./internal.js").Operation} Operation
 */

/** Longest text of a caller that is shown. */
const MAX_SHOWN = 60;

/**
 * Throws `InvalidRequestError` for an input that is no object, as in `sessions.get("ses_1")`.
 *
 * @param {Operation} operation
 * @param {unknown} input
 */
function checkShape(operation, input) {
  if (typeof input === "object" && !Array.isArray(input)) return;
  const { group, name } = operation;
  const [field] = params(operation);
  const kind = Array.isArray(input) ? "an array" : `a ${typeof input}`;
  const right = field === undefined ? "{ ... }" : `{ ${field}: ${show(input)} }`;
  throw invalidRequest(`${group}.${name} takes an object, got ${kind}: write ${name}(${right})`, field);
}

/**
 * The failure of a member that the path needs and the input does not have.
 *
 * @param {Operation} operation
 * @param {string} field
 * @param {Input} input
 */
function missingMember(operation, field, input) {
  const slip = Object.keys(input).find((key) => isSlip(operation, key, field));
  const message = slip === undefined ? `Missing ${field}` : `Unknown member ${slip}. Did you mean ${field}?`;
  return invalidRequest(message, field);
}

/**
 * `sessionId`, `session_id` or `id` in the place of `sessionID`.
 *
 * @param {Operation} operation
 * @param {string} key
 * @param {string} field
 */
function isSlip(operation, key, field) {
  const isKnown = members(operation).includes(key);
  return !isKnown && (key === "id" || plain(key) === plain(field));
}

/** @param {string} name */
function plain(name) {
  return name.replace(/[_-]/g, "").toLowerCase();
}

/**
 * The members that an input may have.
 *
 * @param {Operation} operation
 * @returns {string[]}
 */
function members(operation) {
  const { query, payload } = operation;
  return [...params(operation), ...query, ...(Array.isArray(payload) ? payload : [])];
}

/**
 * @param {Operation} operation
 * @returns {string[]}
 */
function params({ path }) {
  return path.flatMap((part) => (typeof part === "string" ? [] : "param" in part ? part.param : part.rest));
}

/** @param {unknown} value */
function show(value) {
  return typeof value === "string" && value.length <= MAX_SHOWN ? JSON.stringify(value) : "...";
}

/**
 * @param {string} message
 * @param {string | undefined} field
 */
function invalidRequest(message, field) {
  return taggedError({ _tag: "InvalidRequestError", message, ...(field === undefined ? {} : { field }) });
}

module.exports = { checkShape, invalidRequest, missingMember };
