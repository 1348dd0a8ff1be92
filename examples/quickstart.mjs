// One question about the working directory, the answer as it streams:
//
//   OPENAI_API_KEY=... node examples/quickstart.mjs "What is this?"

import { OpenCode } from "opencode-embedded";
import { config } from "./config.cjs";

const opencode = await OpenCode.create({ directory: process.cwd(), config });
const session = await opencode.sessions.create();
const prompt = { text: process.argv[2] ?? "What is in this directory?" };

for await (const event of opencode.events.subscribe()) {
  // The stream stands: nothing that happens from here on is missed.
  if (event.type === "server.connected") await opencode.sessions.prompt({ sessionID: session.id, prompt });

  if (event.type === "session.next.text.delta") process.stdout.write(event.data.delta);
  if (event.type === "session.next.text.ended") process.stdout.write("\n");
  if (event.type === "session.next.tool.called") console.log(`→ ${event.data.tool}`, event.data.input);

  // After tool calls the model goes on; whatever else ends a turn ends the answer.
  if (event.type === "session.next.step.ended" && event.data.finish !== "tool-calls") break;
  if (event.type === "session.next.step.failed") throw new Error(event.data.error.message);
  if (event.type === "session.error") throw new Error(event.data.error.data.message);
}

await opencode.close();
