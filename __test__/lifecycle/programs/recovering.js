"use strict";

// Runs or resumes a session whose model calls a tool with one effect. Kills itself at the point `dieAt`.

const fs = require("node:fs");
const { input, open, print } = require("./support.js");

const sessionID = "ses_victim";

/** @param {string} point The name of an event, or of a moment in a function. */
function pass(point) {
  print("point", { point });
  if (point === input.dieAt) process.kill(process.pid, "SIGKILL");
}

/** The keys of the effects so far. */
function readEffects() {
  return fs.existsSync(input.effects) ? fs.readFileSync(input.effects, "utf8").split("\n") : [];
}

/** @typedef {import("../../../index.js").JsonSchema} JsonSchema */
/** @typedef {import("../../../index.js").ToolDefinition<JsonSchema>} Tool */

/** @type {Tool} */
const pay = {
  name: "pay",
  description: "Pays once.",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  async execute({ to }, { idempotencyKey }) {
    pass("execute");
    fs.appendFileSync(input.effects, `${idempotencyKey}\n`);
    pass("effect");
    return `Paid to ${to}`;
  },
};

/** @type {NonNullable<Tool["recover"]>} */
async function recover({ to }, { idempotencyKey }) {
  pass("recover");
  const isDone = readEffects().includes(idempotencyKey);
  pass("recovered");
  return isDone ? { done: `Paid to ${to}` } : "not-started";
}

/** @param {import("../../../index.js").OpenCodeHost} host */
async function follow(host) {
  for await (const { type } of host.sessions.events({ sessionID })) pass(type.replace("session.next.", ""));
}

async function main() {
  const host = await open();
  host.tools.register(input.recovers ? { ...pay, recover } : pay);
  await host.sessions.create({ id: sessionID });
  const following = follow(host);
  if (input.isFirst) await host.sessions.prompt({ sessionID, prompt: { text: "Pay" } });
  else await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  // The end of the host ends the stream, after its last event.
  await Promise.all([host.close(), following.catch(() => {})]);
}

void main();
