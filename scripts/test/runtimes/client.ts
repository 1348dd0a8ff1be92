// Only the client: no addon, and only the permission for the address of a listener.

import assert from "node:assert/strict";
import { createClient, isClientError, isSessionNotFoundError, resumeEvents } from "opencode-embedded/client";

const client = createClient({ baseUrl: process.argv[2] ?? "" });
const { id: sessionID } = await client.sessions.create();
const live = client.events.subscribe()[Symbol.asyncIterator]();
assert.equal((await live.next()).value?.type, "server.connected");
await client.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
await client.sessions.wait({ sessionID });
let text = "";
for (let ended = false; !ended;) {
  const { value } = await live.next();
  if (value?.type === "session.next.text.delta") text += value.data.delta;
  ended = value?.type === "session.next.step.ended";
}
await live.return?.();

const { data: history } = await client.sessions.history({ sessionID, limit: 100 });
const resumed = [];
for await (const event of resumeEvents(client, { sessionID })) if (resumed.push(event) === history.length) break;
assert.deepEqual(resumed, history);

const missing = await client.sessions.get({ sessionID: "ses_none" }).catch((error: unknown) => error);
assert.ok(missing instanceof Error && isSessionNotFoundError(missing));
assert.deepEqual(
  { ...missing },
  { _tag: "SessionNotFoundError", sessionID: "ses_none", message: "Session not found: ses_none" },
);
const aborted = await client.health.get({ signal: AbortSignal.abort("enough") }).catch((error: unknown) => error);
assert.ok(isClientError(aborted) && aborted.cause === "enough");

await client.sessions.create({ id: "ses_done" });
console.log(text);
