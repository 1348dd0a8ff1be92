"use strict";

// Listens, then opens all available file descriptors, and closes them when the log reports that a connection cannot be
// accepted.

const { giveBack, input, print, takeDescriptors } = require("./support.js");
const { OpenCode } = require("../../../index.js");

/** @type {number[]} */
let taken = [];

/** @param {import("../../../index.js").LogEntry} entry */
function log(entry) {
  print("entry", { entry });
  giveBack(taken);
}

async function main() {
  const host = await OpenCode.create({ ...input.options, log });
  const { url } = await host.listen({ password: false });
  print("listening", { url });
  taken = takeDescriptors();
  print("full", { count: taken.length });
}

void main();
