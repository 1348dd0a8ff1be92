// Runs a turn through the published SDK as it is installed: streams, a prompt, reads. It leaves the streams as a user
// may leave them. This process ends only when no handle is left.

import { createOpencodeClient } from "@opencode-ai/sdk/v2/client";
import { isSessionNotFoundError, OpenCode } from "opencode-embedded";

/**
 * @param {AsyncIterator<any>} stream
 * @param {string} last
 */
async function readTurn(stream, last) {
  const types = [];
  while (types.at(-1) !== last) types.push((await stream.next()).value.type);
  return types;
}

const [options = "{}", way] = process.argv.slice(2);
const host = await OpenCode.create(JSON.parse(options));
const listener = way === "network" ? await host.listen() : undefined;
const transport =
  listener === undefined
    ? { baseUrl: "http://any.host", fetch: host.fetch }
    : { baseUrl: listener.url, headers: listener.headers };
const { v2 } = createOpencodeClient(transport);
const created = await v2.session.create({ agent: "build" });
const sessionID = created.data?.data.id ?? "";
const controller = new AbortController();
const attempt = { signal: controller.signal, sseMaxRetryAttempts: 1 };
const durable = (await v2.session.events({ sessionID }, attempt)).stream;
const live = (await v2.event.subscribe(attempt)).stream;
await live.next();
const reading = Promise.all([readTurn(durable, "session.next.step.ended"), readTurn(live, "session.idle")]);
await v2.session.prompt({ sessionID, prompt: { text: "Hi" } });
const [events, liveEvents] = await reading;
const messages = await v2.session.messages({ sessionID, order: "asc" });
const failure = await host.sessions.get({ sessionID: "ses_none" }).catch((error) => error);

// In memory the streams are aborted and the host stays open. Over the network the host closes during them.
const waiting = [durable.next(), live.next()];
if (way === "network") await host.close();
else controller.abort();
const ends = await Promise.all(waiting);

console.log(
  JSON.stringify({
    events,
    liveEvents,
    messages: messages.data?.data.map(({ type }) => type),
    failure: [failure instanceof Error, isSessionNotFoundError(failure), Object.keys(failure)],
    ends: ends.map(({ value }) => Object(value).type ?? "end"),
  }),
);
