"use strict";

/** @typedef {import("./types.js").ClientErrorReason} ClientErrorReason */

/** @type {Readonly<Record<ClientErrorReason, string>>} */
const SENTENCES = {
  Transport: "The request or its response could not be carried",
  UnexpectedStatus: "The answer has a status the operation does not declare",
  UnsupportedContentType: "The answer has a content type the operation does not declare",
  MalformedResponse: "The answer has a body that cannot be read",
};

// What the cause of a Transport failure has as `code` when the host in this process is closed, which is final.
const HOST_CLOSED = "HOST_CLOSED";

/** The failure of a call that brought back no declared answer. The only class among our failures. */
class ClientError extends Error {
  /**
   * @param {ClientErrorReason} reason
   * @param {{ cause?: unknown }} [options]
   */
  constructor(reason, options) {
    super(`${SENTENCES[reason]}${detail(options?.cause)}`, options);
    this.reason = reason;
  }
}

// On the prototype, as the built-in errors have it, so that `reason` stays the only enumerable field.
Object.defineProperty(ClientError.prototype, "name", { value: "ClientError", configurable: true, writable: true });

/**
 * What the cause says, for a message that can be understood without looking at the cause.
 *
 * @param {unknown} cause
 */
function detail(cause) {
  if (typeof cause !== "object" || cause === null) return "";
  const { message, status, contentType } = /** @type {Record<string, unknown>} */ (cause);
  const text = [message, contentType, status].find((part) => typeof part === "string" || typeof part === "number");
  return text === undefined || text === "" ? "" : `: ${text}`;
}

/**
 * Wraps whatever broke a connection. A ClientError says already what happened and stays as it is.
 *
 * @param {unknown} error
 */
function transportError(error) {
  return isClientError(error) ? error : new ClientError("Transport", { cause: error });
}

/**
 * A tagged failure: an Error of this realm whose own enumerable properties are exactly `body`.
 *
 * @param {Record<string, unknown>} body
 * @returns {Error}
 */
function taggedError(body) {
  const error = new Error(typeof body.message === "string" ? body.message : "");
  // The stack has captured the message by now. Deleting it lets the fields stand in the order of the
  // wire, so that JSON.stringify gives the wire back.
  Reflect.deleteProperty(error, "message");
  for (const key of Object.keys(body)) {
    // Defining, unlike assigning, also works for a field called `__proto__`.
    Object.defineProperty(error, key, { value: body[key], enumerable: true, configurable: true, writable: true });
  }
  return error;
}

/**
 * Looks at the fields, not at the class: there may be several copies of this package, and several realms.
 *
 * @param {unknown} value
 * @returns {value is ClientError}
 */
function isClientError(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    /** @type {Record<string, unknown>} */ (value).name === "ClientError" &&
    typeof (/** @type {Record<string, unknown>} */ (value).reason) === "string"
  );
}

/**
 * @param {unknown} value
 * @param {string} tag
 */
function isTagged(value, tag) {
  return typeof value === "object" && value !== null && /** @type {Record<string, unknown>} */ (value)._tag === tag;
}

// One failure has two names: the tag on the wire and the name the documentation of sessions uses.
const ALIASES = new Map([["MessageNotFoundError", "SessionMessageNotFoundError"]]);

/**
 * One guard a tag, called `is<tag>`.
 *
 * @param {readonly string[]} tags
 * @returns {Record<string, (value: unknown) => boolean>}
 */
function createGuards(tags) {
  /** @type {Record<string, (value: unknown) => boolean>} */
  const guards = {};
  for (const tag of tags) {
    const alias = ALIASES.get(tag);
    if (alias === undefined) {
      guards[`is${tag}`] = (value) => isTagged(value, tag);
    } else {
      guards[`is${tag}`] = guards[`is${alias}`] = (value) => isTagged(value, tag) || isTagged(value, alias);
    }
  }
  return guards;
}

module.exports = { ClientError, HOST_CLOSED, createGuards, isClientError, isTagged, taggedError, transportError };
