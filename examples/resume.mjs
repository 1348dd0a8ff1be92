// A reader that goes away in the middle and comes back misses nothing:
//
//   OPENAI_API_KEY=... node examples/resume.mjs

import { isClientError, OpenCode } from "opencode-embedded";
import { config } from "./config.cjs";

const opencode = await OpenCode.create({ directory: process.cwd(), database: ":memory:", config });
const session = await opencode.sessions.create();
const sessionID = session.id;

// What is durable has a sequence. Whoever remembers the last one can go on from there, on any day.
let after;

/** Prints events from `after` on, until `isEnough` says so. */
async function follow(isEnough, signal) {
  for await (const event of opencode.sessions.events({ sessionID, after }, { signal })) {
    after = event.durable.seq;
    console.log(after, event.type, event.type === "session.next.text.ended" ? event.data.text : "");
    if (isEnough(event)) return;
  }
}

await opencode.sessions.prompt({ sessionID, prompt: { text: "Say hello" } });

const controller = new AbortController();
try {
  await follow((event) => {
    // An abort closes the stream. The session runs on: it is not the reader's.
    if (event.type === "session.next.prompted") controller.abort(new Error("The reader has to go"));
  }, controller.signal);
} catch (error) {
  if (!isClientError(error)) throw error;
  console.log(`— ${error.cause.message}, after ${after} —`);
}

await opencode.sessions.wait({ sessionID });
await follow((event) => event.type === "session.next.step.ended" || event.type === "session.next.step.failed");
await opencode.close();
