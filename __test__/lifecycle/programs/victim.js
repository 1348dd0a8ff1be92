"use strict";

// Prompts and prints the receipt. Runs until the test kills it, or until it kills itself at the event with a given
// number.

const { input, open, print } = require("./support.js");

/**
 * @param {import("../../../index.js").OpenCodeHost} host
 * @param {string} sessionID
 */
async function follow(host, sessionID) {
  let seen = 0;
  for await (const event of host.sessions.events({ sessionID })) {
    seen += 1;
    print("event", { type: event.type });
    if (seen === input.dieAfter || event.type === input.dieAt) process.kill(process.pid, "SIGKILL");
  }
}

async function main() {
  const host = await open();
  const { id: sessionID } = await host.sessions.create({ id: "ses_victim" });
  void follow(host, sessionID);
  for (const prompt of input.prompts) {
    void host.sessions.prompt({ sessionID, ...prompt }).then((receipt) => print("receipt", { receipt }));
  }
}

void main();
