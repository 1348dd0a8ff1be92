"use strict";

const { encodeJson } = require("../client/request.js");
const { checkListenOptions } = require("./checks.js");

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
  const listener = { url: native.url, close };
  // Node 20.0 to 20.4 lack the symbol.
  return Symbol.asyncDispose === undefined ? listener : { ...listener, [Symbol.asyncDispose]: close };
}

module.exports = { listen };
