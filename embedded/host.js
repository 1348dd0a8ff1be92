"use strict";

const { buildClient } = require("../client/core.js");
const { taggedError, transportError } = require("../client/errors.js");
const { encodeJson } = require("../client/request.js");
const { addRuns } = require("../client/run/index.js");
const { NativeConnection } = require("./connection.js");
const { TerminalEnvironment } = require("./environment.js");
const { createFetch } = require("./fetch.js");
const { createHandlers } = require("./handlers.js");
const { listen } = require("./listen.js");
const { createSink } = require("./log.js");
const { resolveOptions } = require("./options.js");
const { createNativeTransport } = require("./transport.js");
const { answerTrust, createTrust } = require("./trust.js");

/**
 * @typedef {import("../client/internal.js").Operation} Operation
 * @typedef {import("./native.js").Addon} Addon
 */

/**
 * Opens a host. The addon is loaded after the options have been found good.
 *
 * @param {unknown} options
 * @param {readonly Operation[]} operations
 * @param {() => Addon} loadAddon
 */
async function openHost(options, operations, loadAddon) {
  const { keepAlive, ptyEnvironment, decideTrust, log, ...resolved } = resolveOptions(options);
  const opened = await open(loadAddon(), encodeJson(resolved), log);
  if (typeof opened === "string") throw taggedError(JSON.parse(opened));
  const isLimited =
    /** @type {import("../index.js").OpenCodeOptions} */ (options)?.permissions?.unanswered !== undefined;
  const connection = new NativeConnection(opened, keepAlive);
  if (decideTrust !== undefined) answerTrust(connection, decideTrust);
  const host = createHost(connection, operations, isLimited);
  if (ptyEnvironment !== undefined) host.ptys.environment(ptyEnvironment);
  return host;
}

/**
 * @param {Addon} addon
 * @param {string} options
 * @param {import("./log.js").ResolvedLog} log
 */
async function open(addon, options, log) {
  const { level, targets } = log;
  try {
    return await addon.open(options, encodeJson({ level, targets }), createSink(log));
  } catch (error) {
    throw transportError(error);
  }
}

/**
 * The client over the native host, and what only a host can do.
 *
 * @param {NativeConnection} connection
 * @param {readonly Operation[]} operations
 * @param {boolean} isLimited Whether the host says what happens to requests that are not answered.
 */
function createHost(connection, operations, isLimited) {
  const close = () => connection.close();
  const built = buildClient(operations, createNativeTransport(connection));
  const { handlePermissions, handleQuestions, isHandled } = createHandlers(connection, built);
  const client = addRuns(built, (kind) => isLimited || isHandled(kind));
  const environment = new TerminalEnvironment(connection);
  const host = {
    ...client,
    location: { ...client.location, trust: createTrust(connection) },
    permissions: { ...client.permissions, handle: handlePermissions },
    questions: { ...client.questions, handle: handleQuestions },
    ptys: {
      ...client.ptys,
      /** @param {import("../index.js").PtyEnvironmentHook} hook */
      environment: (hook) => environment.register(hook),
    },
    fetch: createFetch(connection),
    /** @param {unknown} [options] */
    listen: (options) => listen(connection, options),
    close,
  };
  // Node 20.0 to 20.4 lack the symbol.
  return Symbol.asyncDispose === undefined ? host : { ...host, [Symbol.asyncDispose]: close };
}

module.exports = { openHost };
