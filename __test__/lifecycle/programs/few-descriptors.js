"use strict";

// Takes every file descriptor that the process may have but a few, and then opens its first host.

const fs = require("node:fs");
const { input, say } = require("./support.js");
const { OpenCode } = require("../../../index.js");

/** @type {number[]} */
const taken = [];
try {
  for (;;) taken.push(fs.openSync("/dev/null", "r"));
} catch {
  for (const descriptor of taken.splice(0, input.left)) fs.closeSync(descriptor);
}

async function main() {
  const opened = await OpenCode.create(input.options).then(
    (host) => ({ host }),
    (error) => ({ tag: error._tag, message: error.message }),
  );
  for (const descriptor of taken) fs.closeSync(descriptor);
  if (!("host" in opened)) return say("ended", opened);
  await opened.host.close();
  say("ended");
}

void main();
