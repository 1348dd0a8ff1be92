// Streams that are cut, and one that continues over several connections.

import assert from "node:assert/strict";
import { ClientError, createClient, type OpenCodeHost, resumeEvents } from "opencode-embedded";
import { type Check, converse, open } from "./support.ts";

export const checks: Check[] = [
  ["a pending read is ended by `return`, and by its signal", pendingRead],
  ["concurrent reads are answered in order", order],
  ["a stream continues when its listener starts again", resumption],
  ["closing the host breaks durable streams", closing],
];

async function pendingRead() {
  await using host = await open();
  await using listener = await host.listen();
  for (const client of [host, createClient({ baseUrl: listener.clientUrl })]) {
    const live = client.events.subscribe()[Symbol.asyncIterator]();
    assert.equal((await live.next()).value?.type, "server.connected");
    const pending = live.next();
    await live.return?.();
    assert.deepEqual(await pending, { done: true, value: undefined });

    const controller = new AbortController();
    const aborted = client.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    await aborted.next();
    const reading = assert.rejects(aborted.next(), (error) => error instanceof ClientError && error.cause === "enough");
    controller.abort("enough");
    await reading;
    assert.deepEqual(await client.health.get(), { healthy: true });
  }
}

async function order() {
  await using host = await open();
  const { id: sessionID } = await host.sessions.create();
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  const reads = Array.from({ length: 20 }, () => events.next());
  for (let number = 0; number < 20; number += 1) {
    await host.sessions.switchAgent({ sessionID, agent: number % 2 === 0 ? "plan" : "build" });
  }
  const sequence = (await Promise.all(reads)).map(({ value }) => value?.durable.seq);
  assert.deepEqual(
    sequence,
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  await events.return?.();
}

async function resumption() {
  await using host = await open();
  const sessionID = await converse(host, "Hello");
  const first = await host.listen({ password: "s3cret" });
  const port = Number(new URL(first.url).port);
  const client = createClient({ baseUrl: first.clientUrl });
  const events = resumeEvents(client, { sessionID, minDelayMs: 10, maxDelayMs: 100 })[Symbol.asyncIterator]();
  const read = [(await events.next()).value];
  await first.close();
  await host.sessions.switchAgent({ sessionID, agent: "plan" });
  const { data: history } = await host.sessions.history({ sessionID, limit: 100 });
  const second = await host.listen({ port, password: "s3cret" });
  while (read.length < history.length) read.push((await events.next()).value);
  assert.deepEqual(read, history);
  await events.return?.();
  await second.close();
}

async function closing() {
  const host: OpenCodeHost = await open();
  const { id: sessionID } = await host.sessions.create();
  const durable = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  const pending = assert.rejects(durable.next(), ClientError);
  await host.health.get();
  await Promise.all([pending, host.close(), host.close()]);
}
