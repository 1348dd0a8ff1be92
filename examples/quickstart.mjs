// One question about the working directory, the answer as it streams:
//
//   OPENAI_API_KEY=... node examples/quickstart.mjs "What is this?"

import { OpenCode } from "opencode-embedded";
import { config } from "./config.cjs";

const opencode = await OpenCode.create({ directory: process.cwd(), config });
const session = await opencode.sessions.create();

// The live stream begins with `server.connected`; nothing that happens after it is missed.
const events = opencode.events.subscribe()[Symbol.asyncIterator]();
await events.next();

const text = process.argv[2] ?? "What is in this directory?";
await opencode.sessions.prompt({ sessionID: session.id, prompt: { text } });

// Resolves when the session has nothing left to do, whichever way that came.
const settled = opencode.sessions.wait({ sessionID: session.id }).then(() => events.return());

for (let next = await events.next(); !next.done; next = await events.next()) {
  const event = next.value;
  if (event.type === "session.next.text.delta") process.stdout.write(event.data.delta);
  if (event.type === "session.next.text.ended") process.stdout.write("\n");
  if (event.type === "session.next.tool.called") console.log(`→ ${event.data.tool}`, event.data.input);
  if (event.type === "session.next.step.failed") console.error(event.data.error.message);
  if (event.type === "session.error") console.error(event.data.error.data.message);
}

await settled;
await opencode.close();
