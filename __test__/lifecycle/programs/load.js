"use strict";

// Prompts several sessions in parallel, in all ways, and prints every receipt, until the test kills it.

const { createRandom } = require("../../random.js");
const { input, open, print } = require("./support.js");

/**
 * @param {import("../../../index.js").OpenCodeHost} host
 * @param {string} sessionID
 * @param {() => number} random
 */
async function promptForever(host, sessionID, random) {
  for (let number = 1; ; number += 1) {
    const id = `msg_${sessionID}_${input.life}_${number}`;
    const delivery = random() < 0.6 ? "steer" : "queue";
    const prompt = { text: `Prompt ${number} of life ${input.life}` };
    const admission = host.sessions.prompt({ sessionID, id, prompt, delivery, resume: random() < 0.8 });
    const acknowledged = admission.then((receipt) => print("receipt", { receipt }));
    if (random() < 0.7) await acknowledged;
    if (random() < 0.1) await host.sessions.interrupt({ sessionID });
    // Waits for the session, because otherwise almost all events would be admissions.
    if (random() < 0.5) await host.sessions.wait({ sessionID });
  }
}

async function main() {
  const host = await open();
  const random = createRandom(input.seed);
  for (const id of input.sessions) await host.sessions.create({ id });
  print("ready");
  await Promise.all(input.sessions.map((/** @type {string} */ id) => promptForever(host, id, random)));
}

void main();
