// A program that may be killed at any time. Kill it while it answers and start it again: it continues.
//
//   OPENAI_API_KEY=... node examples/recover.mjs "Which files are here, and what are they for?"

import { OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";

const opencode = await OpenCode.create(options);

// The option `recovery: "resume"` does this when the host opens.
const interrupted = await opencode.sessions.interrupted();
for (const { sessionID, state } of interrupted) {
  console.log(`${sessionID} was interrupted: ${state}`);
  await opencode.sessions.resume({ sessionID });
  await opencode.sessions.wait({ sessionID });
  const messages = await opencode.sessions.context({ sessionID });
  for (const part of messages.at(-1).content ?? []) if (part.type === "text") console.log(part.text);
}

if (interrupted.length === 0) {
  console.log(await opencode.sessions.run({ prompt: process.argv[2] ?? "What is in this directory?" }).text);
}
await opencode.close();
