// A reader that stops in the middle and continues later misses no event:
//
//   OPENAI_API_KEY=... node examples/resume.mjs

import { isClientError, OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";

const opencode = await OpenCode.create({ ...options, database: ":memory:" });
const { id: sessionID } = await opencode.sessions.create();
const run = opencode.sessions.run({ sessionID, prompt: "Say hello" });

// Each durable event has a sequence number. A reader that stores the last one can continue after it at any time.
let after;

/** Prints events after `after`, until `isEnough` returns true. */
async function follow(isEnough, signal) {
  for await (const event of opencode.sessions.events({ sessionID, after }, { signal })) {
    after = event.durable.seq;
    console.log(after, event.type, event.type === "session.next.text.ended" ? event.data.text : "");
    if (isEnough(event)) return;
  }
}

const controller = new AbortController();
try {
  await follow((event) => {
    // The abort closes this stream only. The run continues.
    if (event.type === "session.next.prompted") controller.abort(new Error("The reader stops"));
  }, controller.signal);
} catch (error) {
  if (!isClientError(error)) throw error;
  console.log(`— ${error.cause.message} after ${after} —`);
}

await run.result;
await follow((event) => event.type === "session.next.step.ended" || event.type === "session.next.step.failed");
await opencode.close();
