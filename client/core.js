"use strict";

const { onAbort } = require("./abort.js");
const { ClientError, transportError } = require("./errors.js");
const { LINES_TYPE, LineParser, joinLines } = require("./lines.js");
const { checkRequestOptions } = require("./members.js");
const { ParsedBody } = require("./parsed-body.js");
const { createHeaders, encodeRequest, mergeHeaders } = require("./request.js");
const { readElements, readValue } = require("./response.js");
const { EventParser } = require("./sse.js");
const { createStream } = require("./stream.js");

/**
 * @typedef {import("./internal.js").Connection} Connection
 * @typedef {import("./internal.js").Input} Input
 * @typedef {import("./internal.js").Operation} Operation
 * @typedef {import("./types.js").RequestOptions} RequestOptions
 */

/**
 * The client: a tree of methods, one for each operation of the table, over one transport.
 *
 * @param {readonly Operation[]} operations
 * @param {import("./internal.js").Transport} transport
 * @param {import("./types.js").HeadersInput} [headers]
 * @returns {import("./generated/types.js").OpenCodeOperations}
 */
function buildClient(operations, transport, headers) {
  const connection = { transport, headers: createHeaders(headers) };
  /** @type {Record<string, unknown>} */
  const client = {};
  for (const operation of operations) {
    const path = `${operation.group}.${operation.name}`.split(".");
    const name = /** @type {string} */ (path.pop());
    const group = path.reduce((node, key) => /** @type {Record<string, unknown>} */ (node[key] ??= {}), client);
    group[name] = createMethod(operation, connection);
  }
  // The table and the declarations are generated from the same contract.
  return /** @type {import("./generated/types.js").OpenCodeOperations} */ (/** @type {unknown} */ (client));
}

/**
 * @param {Operation} operation
 * @param {Connection} connection
 */
function createMethod(operation, connection) {
  const { kind } = operation.success;
  const invoke = kind === "stream" || kind === "lines" ? iterate : call;
  if (operation.input === "none") {
    return (/** @type {RequestOptions} */ options) => invoke(operation, connection, {}, options);
  }
  const isLines = operation.payload === "lines";
  return (/** @type {Input} */ input, /** @type {RequestOptions} */ options) =>
    invoke(operation, connection, isLines ? input : (input ?? {}), options);
}

/**
 * The request leaves within the call, before the caller goes on: two calls in a row arrive in that order.
 *
 * @param {Operation} operation
 * @param {Connection} connection
 * @param {Input} input
 * @param {RequestOptions} [options]
 */
function call(operation, connection, input, options) {
  return abortable(options?.signal ?? undefined, async (signal) => {
    const response = await send(operation, connection, input, options, signal);
    return readValue(operation, response);
  });
}

/**
 * @param {Operation} operation
 * @param {Connection} connection
 * @param {Input} input
 * @param {RequestOptions} [options]
 */
function iterate(operation, connection, input, options) {
  const connect = async (/** @type {AbortSignal} */ signal) => {
    const response = await send(operation, connection, input, options, signal);
    const body = await readElements(operation, response);
    /** @type {import("./internal.js").Parser<unknown>} */
    const parser = operation.success.kind === "lines" ? new LineParser() : new EventParser();
    return new ParsedBody(body, parser);
  };
  return createStream(connect, options?.signal ?? undefined);
}

/**
 * @param {Operation} operation
 * @param {Connection} connection
 * @param {Input} input
 * @param {RequestOptions | undefined} options
 * @param {AbortSignal | undefined} signal
 */
async function send(operation, connection, input, options, signal) {
  checkRequestOptions(`${operation.group}.${operation.name}`, options);
  const { method, path, ...encoded } = encodeRequest(operation, input);
  const isLines = operation.payload === "lines";
  const body = isLines ? await joinLines(input, signal) : encoded.body;
  const contentType = body === undefined ? undefined : isLines ? LINES_TYPE : "application/json";
  try {
    const headers = mergeHeaders(connection.headers, operation.headers, options?.headers, contentType);
    return await connection.transport({ method, path, headers, body, signal });
  } catch (error) {
    throw transportError(error);
  }
}

/**
 * Runs `start` with a signal of its own, so that no transport puts listeners on the caller's. An abort settles
 * the call at once, whatever the transport makes of it.
 *
 * @template T
 * @param {AbortSignal | undefined} signal
 * @param {(signal: AbortSignal | undefined) => Promise<T>} start
 * @returns {Promise<T>}
 */
function abortable(signal, start) {
  if (signal === undefined) return start(undefined);
  if (signal.aborted) return Promise.reject(new ClientError("Transport", { cause: signal.reason }));
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const release = onAbort(signal, () => {
      reject(new ClientError("Transport", { cause: signal.reason }));
      controller.abort(signal.reason);
    });
    start(controller.signal).finally(release).then(resolve, reject);
  });
}

module.exports = { buildClient };
