// One question about the working directory. Text and tool calls are shown as they arrive:
//
//   OPENAI_API_KEY=... node examples/quickstart.mjs "What is this?"

import { OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";

const opencode = await OpenCode.create(options);
try {
  const run = opencode.sessions.run({ prompt: process.argv[2] ?? "What is in this directory?" });
  for await (const part of run) {
    if (part.type === "text") process.stdout.write(part.text);
    if (part.type === "tool" && part.status === "running") console.log(`\n→ ${part.tool}`, part.input);
  }
  const { outcome, reason, usage } = await run.result;
  console.log(`\n${outcome}, ${usage.output} tokens`);
  if (outcome !== "completed") throw new Error(reason);
} finally {
  await opencode.close();
}
