// One session through `require`, which is read again from the file.

const assert = require("node:assert/strict");
const { isDatabaseInUseError, OpenCode } = require("opencode-embedded");

async function main() {
  const options = { database: "require.db", config: JSON.parse(process.env.CONFIG) };
  const first = await OpenCode.create(options);
  const session = await first.sessions.create();
  await first.sessions.prompt({ sessionID: session.id, prompt: { text: "Say hello" } });
  await first.sessions.wait({ sessionID: session.id });

  const second = await OpenCode.create(options).catch((error) => error);
  assert.ok(isDatabaseInUseError(second));
  await first.close();

  const again = await OpenCode.create(options);
  const messages = await again.sessions.context({ sessionID: session.id });
  assert.deepEqual(
    messages.map((message) => message.type),
    ["user", "assistant"],
  );
  console.log(messages[1].content[0].text);
  await again.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
