"use strict";

const { ClientError, taggedError } = require("./errors.js");
const { checkInput } = require("./members.js");
const { checkShape, invalidRequest } = require("./shape.js");

/**
 * @typedef {import("./internal.js").HeaderList} HeaderList
 * @typedef {import("./internal.js").Input} Input
 * @typedef {import("./internal.js").Operation} Operation
 */

/**
 * The request an input stands for, without the body that lines make. Throws a tagged failure for an input that
 * must not be sent.
 *
 * @param {Operation} operation
 * @param {Input} input
 */
function encodeRequest(operation, input) {
  if (operation.payload !== "lines") {
    checkShape(operation, input);
    checkInput(operation, input);
  }
  if (operation.success.kind === "page") refuseMixedCursor(operation.query, operation.success.continuation, input);
  return {
    method: operation.method,
    path: encodePath(operation, input) + encodeQuery(operation.query, input),
    body: Array.isArray(operation.payload) ? encodeBody(operation.payload, operation.texts, input) : undefined,
  };
}

/**
 * A cursor carries the query it continues. A second query beside it would be ignored or contradict it,
 * so the call is refused before anything is sent.
 *
 * @param {readonly string[]} query
 * @param {readonly string[]} continuation
 * @param {Input} input
 */
function refuseMixedCursor(query, continuation, input) {
  if (isAbsent(input.cursor)) return;
  const field = query.find((name) => !isAbsent(input[name]) && !continuation.includes(name));
  if (field === undefined) return;
  throw taggedError({ _tag: "InvalidCursorError", message: `Cursor cannot be combined with ${field}` });
}

/**
 * @param {Operation} operation
 * @param {Input} input
 */
function encodePath(operation, input) {
  let path = "";
  for (const segment of operation.path) {
    if (typeof segment === "string") path += segment;
    else if ("param" in segment) path += encodeSegments(segment.param, [readText(segment.param, input)]);
    else path += encodeSegments(segment.rest, readText(segment.rest, input).split("/"));
  }
  return path;
}

/**
 * @param {string} name
 * @param {Input} input
 */
function readText(name, input) {
  const value = input[name];
  if (isAbsent(value)) throw invalidRequest(`Missing ${name}`, name);
  return String(value);
}

/**
 * @param {string} name
 * @param {string[]} segments
 */
function encodeSegments(name, segments) {
  // Nothing, one dot and two dots change which path is meant, escaped or not: the call would reach
  // another operation.
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw invalidRequest(`Invalid ${name}: ${JSON.stringify(segments.join("/"))}`, name);
  }
  return segments.map(encodeText).join("/");
}

/**
 * @param {readonly string[]} names
 * @param {Input} input
 */
function encodeQuery(names, input) {
  /** @type {string[]} */
  const pairs = [];
  for (const name of names) appendQuery(pairs, name, input[name]);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/**
 * Arrays repeat the name; the members of an object become `name[member]`.
 *
 * @param {string[]} pairs
 * @param {string} name
 * @param {unknown} value
 */
function appendQuery(pairs, name, value) {
  if (isAbsent(value)) return;
  if (Array.isArray(value)) {
    for (const item of value) appendQuery(pairs, name, item);
  } else if (typeof value === "object") {
    for (const [key, member] of Object.entries(/** @type {object} */ (value))) {
      appendQuery(pairs, `${name}[${key}]`, member);
    }
  } else {
    pairs.push(`${encodeText(name)}=${encodeText(String(value))}`);
  }
}

/**
 * @param {readonly string[]} names
 * @param {readonly string[] | undefined} texts The fields that stand for `{ text }` when they are text.
 * @param {Input} input
 */
function encodeBody(names, texts, input) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const name of names) {
    const value = input[name];
    if (value !== undefined) body[name] = typeof value === "string" && texts?.includes(name) ? { text: value } : value;
  }
  try {
    return encodeJson(body);
  } catch (cause) {
    // A cycle or a BigInt: there is no text to send.
    throw new ClientError("Transport", { cause });
  }
}

/**
 * JSON that every parser accepts. JSON.stringify escapes half a surrogate pair, as cutting a string
 * inside an emoji leaves it, and strict parsers refuse the whole document for it.
 *
 * @param {unknown} value
 */
function encodeJson(value) {
  const json = JSON.stringify(value);
  return json.includes("\\ud") ? replaceSurrogates(json) : json;
}

/**
 * Whole pairs are never escaped by JSON.stringify, so every surrogate escape is half a pair. The second
 * alternative steps over all other escapes: in `\\ud800` the text says `\ud800` and is left alone.
 *
 * @param {string} json
 */
function replaceSurrogates(json) {
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (match) => (match.length === 6 ? "\\ufffd" : match));
}

/**
 * @param {string} text
 */
function encodeText(text) {
  return encodeURIComponent(text.toWellFormed());
}

/**
 * @param {unknown} value
 */
function isAbsent(value) {
  return value === undefined || value === null;
}

/**
 * @param {import("./types.js").HeadersInput | null | undefined} headers
 * @returns {HeaderList}
 */
function createHeaders(headers) {
  return isAbsent(headers) ? [] : [...new Headers(/** @type {HeadersInit} */ (headers))];
}

/**
 * The client's headers under those of the operation under those of one call. `contentType` describes our own
 * body, if there is one, unless somebody said otherwise.
 *
 * @param {HeaderList} client
 * @param {Operation["headers"]} operation
 * @param {import("./types.js").HeadersInput | null | undefined} call
 * @param {string | undefined} contentType
 * @returns {HeaderList}
 */
function mergeHeaders(client, operation, call, contentType) {
  // A list of its own: whoever carries the request may change it.
  const merged = [...override(override(client, Object.entries(operation ?? {})), createHeaders(call))];
  if (contentType !== undefined && !merged.some(([name]) => name === "content-type")) {
    merged.push(["content-type", contentType]);
  }
  return merged;
}

/**
 * @param {HeaderList} base
 * @param {HeaderList} over
 * @returns {HeaderList}
 */
function override(base, over) {
  if (over.length === 0) return base;
  return [...base.filter(([name]) => !over.some(([other]) => other === name)), ...over];
}

module.exports = { createHeaders, encodeJson, encodeRequest, mergeHeaders };
