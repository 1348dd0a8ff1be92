"use strict";

// Listens, takes every file descriptor that the process may have, and gives them back once the log says that a
// connection cannot be accepted.

const fs = require("node:fs");
const { input, say } = require("./support.js");
const { OpenCode } = require("../../../index.js");

/** @type {number[]} */
const taken = [];

/** @param {import("../../../index.js").LogEntry} entry */
function log(entry) {
  say("entry", { entry });
  for (const descriptor of taken.splice(0)) fs.closeSync(descriptor);
}

function takeAll() {
  try {
    for (;;) taken.push(fs.openSync("/dev/null", "r"));
  } catch {
    say("full", { count: taken.length });
  }
}

async function main() {
  const host = await OpenCode.create({ ...input.options, log });
  const { url } = await host.listen({ password: false });
  say("listening", { url });
  takeAll();
}

void main();
