// Lists the commands of the working directory, and runs one in a new session:
//
//   OPENAI_API_KEY=... node examples/commands.mjs review "the last commit"

import { OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";

const [command = "review", args = ""] = process.argv.slice(2);
const opencode = await OpenCode.create(options);
try {
  const { data: commands } = await opencode.commands.list();
  for (const { name, description } of commands) console.log(`/${name}  ${description ?? ""}`);
  const { id: sessionID } = await opencode.sessions.create();
  const { prompt } = await opencode.commands.run({ sessionID, command, arguments: args });
  console.log(`\n> ${prompt.text.split("\n", 1)[0]}\n`);
  await opencode.sessions.wait({ sessionID });
  const answer = (await opencode.sessions.context({ sessionID })).at(-1);
  if (answer?.type !== "assistant") throw new Error("The session has no answer");
  if (answer.error) throw new Error(answer.error.message);
  for (const part of answer.content) if (part.type === "text") console.log(part.text);
} finally {
  await opencode.close();
}
