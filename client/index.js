"use strict";

// The client alone: no native code, and nothing that a browser lacks.

const { buildClient } = require("./core.js");
const { ClientError, createGuards, isClientError, isTagged } = require("./errors.js");
const { operations, tags } = require("./generated/operations.js");
const { checkOptions } = require("./members.js");
const { resumeEvents } = require("./resume.js");
const { addRuns } = require("./run/index.js");
const { createFetchTransport } = require("./transport.js");

/** @type {Readonly<Record<keyof import("./index.js").ClientOptions, null>>} */
const OPTIONS = { baseUrl: null, fetch: null, headers: null };

/**
 * @param {import("./index.js").ClientOptions} options
 */
function createClient(options) {
  checkOptions("createClient", options, OPTIONS);
  return addRuns(buildClient(operations, createFetchTransport(options), options.headers));
}

module.exports = { createClient, resumeEvents, ClientError, isClientError, isTagged, ...createGuards(tags) };
