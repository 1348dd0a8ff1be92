// The same package through `require`: ask, and read what was stored.
//
//   OPENAI_API_KEY=... node examples/commonjs.cjs

const { isTagged, OpenCode } = require("opencode-embedded");
const { options } = require("./config.cjs");

async function main() {
  const opencode = await OpenCode.create({ ...options, database: ":memory:" });
  try {
    const { sessionID, text } = await opencode.sessions.run({ prompt: "Say hello" }).result;
    console.log(text);
    for (const { type, id } of await opencode.sessions.context({ sessionID })) console.log(type, id);

    // A failure that the contract declares is an Error with a `_tag`.
    const error = await opencode.sessions.get({ sessionID: "ses_unknown" }).catch((failure) => failure);
    console.log(isTagged(error, "SessionNotFoundError") ? "No such session, as expected" : error);
  } finally {
    await opencode.close();
  }
}

main();
