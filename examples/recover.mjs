// A program that may die at any moment. Kill it while it answers and start it again: it goes on.
//
//   OPENAI_API_KEY=... node examples/recover.mjs "Which files are here, and what are they for?"

import { OpenCode } from "opencode-embedded";
import { config } from "./config.cjs";

const opencode = await OpenCode.create({ directory: process.cwd(), config });

// The option `recovery: "resume"` does this at opening.
const interrupted = await opencode.sessions.interrupted();
for (const { sessionID, state } of interrupted) {
  console.log(`${sessionID} was cut: ${state}`);
  await opencode.sessions.resume({ sessionID });
}

const sessions = interrupted.map(({ sessionID }) => sessionID);
if (sessions.length === 0) {
  const { id: sessionID } = await opencode.sessions.create();
  await opencode.sessions.prompt({ sessionID, prompt: { text: process.argv[2] ?? "What is in this directory?" } });
  sessions.push(sessionID);
}

for (const sessionID of sessions) {
  await opencode.sessions.wait({ sessionID });
  const messages = await opencode.sessions.context({ sessionID });
  for (const part of messages.at(-1).content ?? []) if (part.type === "text") console.log(part.text);
}
await opencode.close();
