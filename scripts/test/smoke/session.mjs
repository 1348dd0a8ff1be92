// One session through `import`, with the text as it is streamed.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { ClientError, isSessionNotFoundError, OpenCode } from "opencode-embedded";
import { createClient } from "opencode-embedded/client";

const opencode = await OpenCode.create({ database: "import.db", config: JSON.parse(process.env.CONFIG) });
const session = await opencode.sessions.create();
const events = opencode.events.subscribe()[Symbol.asyncIterator]();
assert.equal((await events.next()).value.type, "server.connected");
await opencode.sessions.prompt({ sessionID: session.id, prompt: { text: "Say hello" } });

let text = "";
for (let ended = false; !ended;) {
  const { value } = await events.next();
  if (value.type === "session.next.text.delta") text += value.data.delta;
  ended = value.type === "session.next.step.ended";
}
await events.return();
console.log(text);

const missing = await opencode.sessions.get({ sessionID: "ses_missing" }).catch((error) => error);
assert.ok(isSessionNotFoundError(missing) && missing instanceof Error);

// The other entry, with the same host.
const client = createClient({ baseUrl: "http://opencode.local", fetch: opencode.fetch });
const ours = { sessionID: session.id };
assert.deepEqual(await client.sessions.get(ours), await opencode.sessions.get(ours));

await opencode.close();
const closed = await opencode.health.get().catch((error) => error);
assert.ok(closed instanceof ClientError);
// Both module systems share one copy of the class.
assert.equal(createRequire(import.meta.url)("opencode-embedded").ClientError, ClientError);
