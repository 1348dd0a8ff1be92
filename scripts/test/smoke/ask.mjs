// One question and its answer. Without `await` at the top level, so that it can also be bundled as CommonJS.

import { OpenCode } from "opencode-embedded";

async function main() {
  const opencode = await OpenCode.create({ database: ":memory:", config: JSON.parse(process.env.CONFIG) });
  const { id: sessionID } = await opencode.sessions.create();
  await opencode.sessions.prompt({ sessionID, prompt: { text: "Say hello" } });
  await opencode.sessions.wait({ sessionID });
  const messages = await opencode.sessions.context({ sessionID });
  console.log(messages.at(-1).content[0].text);
  await opencode.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
