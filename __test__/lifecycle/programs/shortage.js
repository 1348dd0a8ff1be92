"use strict";

// Creates sessions while there is no free file descriptor, and runs one when there are some again.

const { giveBack, input, open, print, takeDescriptors } = require("./support.js");

const ATTEMPTS = 20;

async function main() {
  const host = await open();
  const { id: sessionID } = await host.sessions.create();
  const taken = takeDescriptors();
  const made = await Promise.allSettled(Array.from({ length: ATTEMPTS }, () => host.sessions.create()));
  const text = "x".repeat(input.bytes);
  const admitted = await Promise.allSettled(
    made.map((_, number) =>
      host.sessions.prompt({ sessionID, prompt: { text: `${String(number)} ${text}` }, resume: false }),
    ),
  );
  const count = taken.length;
  giveBack(taken);
  const ids = made.flatMap((it) => (it.status === "fulfilled" ? [it.value.id] : []));
  const prompts = admitted.filter(({ status }) => status === "fulfilled").length;
  const failures = [...made, ...admitted].flatMap((it) => (it.status === "rejected" ? [it.reason._tag] : []));
  const { outcome } = await host.sessions.run({ sessionID, prompt: { text: "Hi" } }).result;
  await host.close();
  print("done", { count, sessionID, ids, prompts, failures, outcome });
}

void main();
