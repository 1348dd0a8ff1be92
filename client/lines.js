"use strict";

const { ClientError, taggedError } = require("./errors.js");
const { malformed } = require("./json.js");
const { LineBuffer } = require("./line-buffer.js");

/**
 * @template T
 * @typedef {import("./internal.js").Parser<T>} Parser
 */

// The content type of bodies of lines.
const LINES_TYPE = "application/x-ndjson";

// The longest line we hold, in UTF-16 code units (256 MiB of ASCII). A host exports lines that are shorter.
const LINE_LIMIT = 256 * 1024 * 1024;

// The most text of one request, likewise. Some engines cannot make a string that is twice as long.
const BODY_LIMIT = 256 * 1024 * 1024;

/**
 * Turns the text of a body into its lines.
 *
 * @implements {Parser<string>}
 */
class LineParser {
  #lines = new LineBuffer();

  /** @param {string} text */
  push(text) {
    this.#lines.push(text);
    refuseOverlong(this.#lines.unfinished);
  }

  /** Every line ends in a line feed, so a body that ends elsewhere was cut. */
  end() {
    if (this.#lines.unfinished === 0) return;
    throw new ClientError("Transport", { cause: new Error("The body ended within a line") });
  }

  next() {
    const line = this.#lines.next();
    if (line !== undefined) refuseOverlong(line.length);
    return line;
  }
}

/** @param {number} length */
function refuseOverlong(length) {
  if (length > LINE_LIMIT) throw malformed("A line larger than 256 MiB");
}

/**
 * The body that these lines make. Every one of them ends in a line feed.
 *
 * @param {unknown} lines What a caller gave as lines.
 * @param {AbortSignal | undefined} signal
 * @param {number} [limit]
 * @returns {Promise<string>}
 */
async function joinLines(lines, signal, limit = BODY_LIMIT) {
  if (!isIterable(lines)) throw refusal(`Expected lines, got ${kindOf(lines)}`);
  /** @type {string[]} */
  const parts = [];
  let length = 0;
  // A string is a whole file; its characters are no lines.
  for await (const line of typeof lines === "string" ? [lines] : lines) {
    // Whoever aborted has his answer, and the source need not go on.
    signal?.throwIfAborted();
    if (typeof line !== "string") throw refusal(`Expected lines of text, got ${kindOf(line)}`);
    // What stands after the last line feed of a text that was split at them is no line.
    const part = line === "" || line.endsWith("\n") ? line : `${line}\n`;
    length += part.length;
    if (length > limit) throw refusal(`The lines have more than the ${limit} characters that one request carries`);
    parts.push(part);
  }
  signal?.throwIfAborted();
  return parts.join("");
}

/**
 * @param {unknown} lines
 * @returns {lines is string | Iterable<unknown> | AsyncIterable<unknown>}
 */
function isIterable(lines) {
  if (typeof lines === "string") return true;
  return typeof lines === "object" && lines !== null && (Symbol.asyncIterator in lines || Symbol.iterator in lines);
}

/** @param {unknown} value */
function kindOf(value) {
  return value === null ? "null" : typeof value;
}

/** @param {string} message */
function refusal(message) {
  return taggedError({ _tag: "InvalidRequestError", message, kind: "Payload" });
}

module.exports = { LINES_TYPE, LINE_LIMIT, LineParser, joinLines };
