"use strict";

// Removes a session and erases it, or imports one, until the test kills it.

const { readFileSync } = require("node:fs");
const { input, open, print } = require("./support.js");

/** @typedef {import("../../../index.js").OpenCodeHost} Host */

/** @type {Record<string, (host: Host) => Promise<void>>} */
const cases = {
  async erase(host) {
    print("begins");
    for (const sessionID of input.removed) await host.sessions.remove({ sessionID });
    print("removed");
    await host.storage.compact();
    print("compacted");
  },

  async import(host) {
    print("begins");
    await host.sessions.import(JSON.parse(readFileSync(input.file, "utf8")));
    print("imported");
  },
};

async function main() {
  const host = await open();
  await cases[input.work]?.(host);
  // The test kills the process.
  setInterval(() => {}, 1_000);
}

void main();
