"use strict";

// The facade: the client, and the host that answers it in memory.

require("./embedded/node-version.js").requireSupportedNode();

const client = require("./client/index.js");
const { unavailable } = require("./embedded/context-sources.js");
const { openHost } = require("./embedded/host.js");

const OpenCode = Object.freeze({
  /** @param {import("./index.js").OpenCodeOptions} [options] */
  create: (options) => openHost(options),
});

module.exports = { OpenCode, unavailable, ...client };
