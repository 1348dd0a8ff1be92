import { createServer, connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { createClient, resumeEvents } from "../../index.js";
import type { EventsRetry, OpenCodeClient, SessionDurableEvent } from "../../index.js";
import { rejection } from "../client/support";
import { createRandom, pick } from "../random.js";
import { numbered, readHistory, run, setUpSession } from "./support";

const pacing = { minDelayMs: 1, maxDelayMs: 4 };

/** A proxy for a port. It breaks each connection after some bytes, also within an event. */
async function startBreaking(port: number, seed: number) {
  const random = createRandom(seed);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let left = pick(random, [0, 1, 200, 1000, 4000, 16_000]);
    far.on("data", (bytes) => {
      near.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) near.destroy();
    });
    near.pipe(far);
    for (const socket of [near, far]) {
      sockets.add(socket);
      // The proxy breaks connections on purpose. That does not fail the test.
      socket.on("error", () => {});
    }
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads until this number of prompts is promoted. */
async function readPrompted(
  client: OpenCodeClient,
  sessionID: string,
  count: number,
  onRetry: (retry: EventsRetry) => void,
) {
  const events: SessionDurableEvent[] = [];
  let prompted = 0;
  for await (const event of resumeEvents(client, { sessionID, ...pacing, onRetry })) {
    events.push(event);
    if (event.type === "session.next.prompted" && (prompted += 1) === count) break;
  }
  return events;
}

test("a connection that breaks repeatedly during eight writers loses and repeats no event", async () => {
  const { host, sessionID } = await setUpSession();
  const { url, headers } = await host.listen();
  const way = await startBreaking(Number(new URL(url).port), 1);
  const retries: EventsRetry[] = [];
  const client = createClient({ baseUrl: way.url, headers });
  const reading = readPrompted(client, sessionID, 80, (retry) => retries.push(retry));
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 10; n += 1) {
      await host.sessions.prompt({ sessionID, prompt: numbered(writer * 10 + n), delivery: n % 2 ? "queue" : "steer" });
    }
  });
  const events = await reading;
  await Promise.all(writers);
  await host.sessions.wait({ sessionID });

  const history = await readHistory(host, sessionID);
  expect(events).toStrictEqual(history.slice(0, events.length));
  expect(retries.length).toBeGreaterThan(2);
  for (const { failure } of retries) expect(failure).toMatchObject({ name: "ClientError", reason: "Transport" });
  await way.close();
});

test("reconnects to a listener that starts again at the same address", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Before");
  const first = await host.listen({ password: "s3cret" });
  const port = Number(new URL(first.url).port);
  const refused: EventsRetry[] = [];
  const onRetry = (retry: EventsRetry) => {
    // No server listens before this point. From here on the listener does.
    if (retry.retry === 2 && refused.push(retry) === 1) void host.listen({ port, password: "s3cret" });
  };
  const client = createClient({ baseUrl: first.clientUrl });
  const iterator = resumeEvents(client, { sessionID, ...pacing, onRetry })[Symbol.asyncIterator]();
  const events: SessionDurableEvent[] = [];
  const read = async (count: number) => {
    while (events.length < count) events.push((await iterator.next()).value);
  };
  await read(6);
  await first.close();
  const more = read(12);
  await run(host, sessionID, "After");
  await more;
  await iterator.return?.();
  await expect(readHistory(host, sessionID)).resolves.toStrictEqual(events);
  expect(refused).toHaveLength(1);
});

test("ends with the host in memory", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const retries: EventsRetry[] = [];
  const iterator = resumeEvents(host, { sessionID, after: 5, ...pacing, onRetry: (retry) => retries.push(retry) })[
    Symbol.asyncIterator
  ]();
  await expect(iterator.next()).resolves.toMatchObject({ value: { durable: { seq: 6 } } });
  const last = rejection(iterator.next());
  await host.close();
  await expect(last).resolves.toMatchObject({
    name: "ClientError",
    reason: "Transport",
    cause: { message: "The host is closed", code: "HOST_CLOSED" },
  });
  expect(retries).toHaveLength(1);
  await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
});

test("ends for an unknown session", async () => {
  const { host } = await setUpSession();
  const client = createClient({ baseUrl: (await host.listen()).clientUrl });
  const iterator = resumeEvents(client, { sessionID: "ses_none" })[Symbol.asyncIterator]();
  await expect(rejection(iterator.next())).resolves.toMatchObject({ _tag: "SessionNotFoundError" });
});

test("disconnects and notifies a network subscriber that does not read, and keeps a durable reader", async () => {
  const { host, model, sessionID } = await setUpSession();
  const client = createClient({ baseUrl: (await host.listen()).clientUrl });
  const live = client.events.subscribe()[Symbol.asyncIterator]();
  const durable = client.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await live.next();
  const first = durable.next();
  // More than the sockets and the server hold for a subscriber.
  for (let n = 0; n < 12; n += 1) {
    model.reply({ deltas: ["x".repeat(1_000_000), "y".repeat(1_000_000)] });
    await run(host, (await host.sessions.create()).id, "Write a lot");
  }
  const prompts = Array.from({ length: 300 }, (_, n) =>
    host.sessions.prompt({ sessionID, prompt: { text: `${n} ${"x".repeat(20_000)}` }, resume: false }),
  );
  await Promise.all(prompts);
  const cut = (async () => {
    while (!(await live.next()).done);
  })();
  await expect(rejection(cut)).resolves.toMatchObject({ name: "ClientError", reason: "Transport" });

  const history = await readHistory(host, sessionID);
  const events = [(await first).value];
  while (events.length < history.length) events.push((await durable.next()).value);
  expect(events).toStrictEqual(history);
  await durable.return?.();
});
