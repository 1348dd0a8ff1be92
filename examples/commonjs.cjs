// The same package through `require`: ask, wait, read what was stored.
//
//   OPENAI_API_KEY=... node examples/commonjs.cjs

const { isTagged, OpenCode } = require("opencode-embedded");
const { config } = require("./config.cjs");

async function main() {
  const opencode = await OpenCode.create({ directory: process.cwd(), database: ":memory:", config });
  try {
    const session = await opencode.sessions.create();
    await opencode.sessions.prompt({ sessionID: session.id, prompt: { text: "Say hello" } });
    await opencode.sessions.wait({ sessionID: session.id });
    for (const message of await opencode.sessions.context({ sessionID: session.id })) print(message);

    // A failure the contract declares is an Error with a `_tag`.
    const error = await opencode.sessions.get({ sessionID: "ses_unknown" }).catch((failure) => failure);
    console.log(isTagged(error, "SessionNotFoundError") ? "No such session, as expected" : error);
  } finally {
    await opencode.close();
  }
}

function print(message) {
  if (message.type === "user") console.log(`> ${message.text}`);
  if (message.type !== "assistant") return;
  if (message.error !== undefined) console.error(message.error.message);
  for (const part of message.content) console.log(part.type === "tool" ? `→ ${part.name}` : part.text);
}

main();
