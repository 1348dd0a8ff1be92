"use strict";

const { addCredentials, basicAuthorization } = require("../client/credentials.js");
const { encodeJson } = require("../client/request.js");
const { checkListenOptions } = require("./checks.js");

/**
 * @typedef {import("./native.js").NativeListener} NativeListener
 */

/**
 * Answers the requests of network clients with this host.
 *
 * @param {import("./connection.js").NativeConnection} connection
 * @param {unknown} given
 */
async function listen(connection, given) {
  const native = await connection.listen(encodeJson(checkListenOptions(given)));
  /** @type {Promise<void> | undefined} */
  let closing;
  const close = () => (closing ??= connection.closeListener(native));
  const listener = { url: native.url, username: native.username ?? undefined, close };
  addSecrets(listener, native);
  // Node 20.0 to 20.4 lack the symbol.
  if (Symbol.asyncDispose !== undefined) Object.assign(listener, { [Symbol.asyncDispose]: close });
  return listener;
}

/**
 * Adds what holds the password. It is not enumerable: a listener that is printed or serialised does not show it.
 *
 * @param {object} listener
 * @param {NativeListener} native
 */
function addSecrets(listener, { url, username, password }) {
  const isOpen = username === null || password === null;
  Object.defineProperties(listener, {
    password: { value: password ?? undefined },
    headers: { value: Object.freeze(isOpen ? {} : { authorization: basicAuthorization(username, password) }) },
    clientUrl: { value: isOpen ? url : addCredentials(url, username, password) },
  });
}

module.exports = { listen };
