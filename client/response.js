"use strict";

const { ClientError, taggedError, transportError } = require("./errors.js");
const { malformed, parseObject } = require("./json.js");
const { LINES_TYPE } = require("./lines.js");

/**
 * @typedef {import("./internal.js").Operation} Operation
 * @typedef {import("./internal.js").TextStream} TextStream
 * @typedef {import("./internal.js").TransportResponse} TransportResponse
 */

/**
 * The value of a call that answers once. Throws the declared failure, or a ClientError.
 *
 * @param {Operation} operation
 * @param {TransportResponse} response
 */
async function readValue({ success, errors }, response) {
  if (response.status !== (success.kind === "void" ? 204 : 200)) throw await readFailure(errors, response);
  if (success.kind === "void") return discard(response);
  if (success.kind === "bytes") return arrived(response.bytes());
  const body = await readJson(response);
  if (success.kind === "page") return toPage(body);
  return success.kind === "value" && success.unwrap ? unwrap(body) : body;
}

/**
 * The body of a call that answers with events or with lines. Throws the declared failure, or a ClientError.
 *
 * @param {Operation} operation
 * @param {TransportResponse} response
 * @returns {Promise<TextStream>}
 */
async function readElements({ success, errors }, response) {
  if (response.status !== 200) throw await readFailure(errors, response);
  expectType(response, success.kind === "lines" ? LINES_TYPE : "text/event-stream");
  const stream = response.stream();
  if (stream === null) throw malformed("A stream without a body");
  return stream;
}

/**
 * @param {readonly number[]} errors
 * @param {TransportResponse} response
 */
async function readFailure(errors, response) {
  const { status } = response;
  if (errors.includes(status)) {
    const body = await readJson(response);
    // Without a tag it is not of this contract: somebody on the way has answered.
    if (typeof body._tag === "string") return taggedError(body);
  } else {
    discard(response);
  }
  return new ClientError("UnexpectedStatus", { cause: { status } });
}

/**
 * @param {TransportResponse} response
 * @returns {Promise<Record<string, unknown>>}
 */
async function readJson(response) {
  expectType(response, "application/json");
  return parseObject(await arrived(response.text()));
}

/**
 * @template T
 * @param {Promise<T>} body
 * @returns {Promise<T>}
 */
async function arrived(body) {
  try {
    return await body;
  } catch (error) {
    throw transportError(error);
  }
}

/**
 * @param {TransportResponse} response
 * @param {string} expected
 */
function expectType(response, expected) {
  const contentType = response.header("content-type");
  // The whole header first: it is the usual case and needs no cutting.
  if (contentType === expected || contentType?.split(";", 1)[0]?.trim().toLowerCase() === expected) return;
  discard(response);
  throw new ClientError("UnsupportedContentType", { cause: { status: response.status, contentType } });
}

/**
 * @param {Record<string, unknown>} body
 */
function unwrap(body) {
  if (!Object.hasOwn(body, "data")) throw malformed("A body without data");
  return body.data;
}

/**
 * The names of the wire's envelope end here: callers see `items`, `previous` and `next`.
 *
 * @param {Record<string, unknown>} body
 */
function toPage(body) {
  const { data, cursor } = body;
  if (!Array.isArray(data)) throw malformed("A page without data");
  const { previous, next } = /** @type {Record<string, unknown>} */ (cursor ?? {});
  return {
    items: data,
    ...(typeof previous === "string" && { previous }),
    ...(typeof next === "string" && { next }),
  };
}

/**
 * Lets go of a body nobody will read, so that its connection is free at once.
 *
 * @param {TransportResponse} response
 */
function discard(response) {
  response.stream()?.cancel();
}

module.exports = { readElements, readValue };
