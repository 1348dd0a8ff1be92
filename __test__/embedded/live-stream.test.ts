import { createClient } from "../../dist/client/index.js";
import type { OpenCodeEvent, OpenCodeHost } from "../../index.js";
import { rejection } from "../client/support";
import { readHistory, readUntil, run, setUpSession, subscribe, types } from "./support";

const isDurable = (event: OpenCodeEvent) => "durable" in event;

const textDeltas = (events: OpenCodeEvent[]) =>
  events.flatMap((event) => (event.type === "session.next.text.delta" ? [event.data.delta] : []));

/** Prompts, and returns all live events up to the end of the step. */
async function watch(host: OpenCodeHost, sessionID: string, text: string) {
  const live = await subscribe(host);
  const [events] = await Promise.all([readUntil(live, "session.next.step.ended"), run(host, sessionID, text)]);
  await live.return?.();
  return events;
}

test("delivers durable events and deltas in the order in which they happened", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ reasoning: "Hm.", deltas: ["Hel", "lo"] });
  const events = await watch(host, sessionID, "Hi");
  expect(types(events)).toEqual([
    "prompt.admitted",
    "session.status",
    "prompted",
    "step.started",
    "reasoning.started",
    "reasoning.delta",
    "reasoning.ended",
    "text.started",
    "text.delta",
    "text.delta",
    "text.ended",
    "step.ended",
  ]);
  expect(textDeltas(events)).toEqual(["Hel", "lo"]);
});

test("delivers the input of tools while it is written", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ tools: [{ name: "read", input: { path: "." }, id: "call_a" }] });
  const events = await watch(host, sessionID, "Hi");
  const deltas = events.filter((event) => event.type === "session.next.tool.input.delta");
  expect(deltas.map(({ data }) => data.delta).join("")).toBe('{"path":"."}');
  expect(types(events.filter(({ type }) => type.includes("tool")))).toEqual([
    "tool.input.started",
    ...deltas.map(() => "tool.input.delta"),
    "tool.input.ended",
    "tool.called",
    "tool.success",
  ]);
});

test("delivers the durable events of the session with their Location", async () => {
  const { setup, host, sessionID } = await setUpSession();
  const events = await watch(host, sessionID, "Hi");
  const location = { directory: setup.directory };
  const expected = (await readHistory(host, sessionID)).map((event) => ({ ...event, location }));
  expect(events.filter(isDurable)).toStrictEqual(expected);
  // A status has no Location.
  const placed = events.filter(({ type }) => type !== "session.status");
  for (const event of placed) expect(event).toHaveProperty("location", location);
});

test("delivers the creation of sessions", async () => {
  const { host } = await setUpSession();
  const live = await subscribe(host);
  const created = await host.sessions.create();
  const [event] = await readUntil(live, "session.created");
  expect(event).toMatchObject({ durable: { aggregateID: created.id, seq: 0 }, data: { sessionID: created.id } });
  await live.return?.();
});

test("begins with server.connected and replays nothing", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Before");
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await expect(live.next()).resolves.toStrictEqual({
    done: false,
    value: { id: expect.stringMatching(/^evt_/), type: "server.connected", data: {} },
  });
  const [, events] = await Promise.all([run(host, sessionID, "After"), readUntil(live, "session.next.step.ended")]);
  expect(events[0]).toMatchObject({ type: "session.next.prompt.admitted", data: { prompt: { text: "After" } } });
  await live.return?.();
});

test("sends a subscriber heartbeats, in memory and over the network", async () => {
  const { host } = await setUpSession();
  const { url, headers } = await host.listen();
  const beats = [host, createClient({ baseUrl: url, headers })].map(async (client) => {
    for await (const event of client.events.subscribe()) if (event.type === "server.heartbeat") return event;
    throw new Error("The stream ended");
  });
  const expected = { id: expect.stringMatching(/^evt_/), type: "server.heartbeat", data: {} };
  await expect(Promise.all(beats)).resolves.toStrictEqual([expected, expected]);
});

test("delivers everything to every subscriber", async () => {
  const { host, sessionID } = await setUpSession();
  const live = await Promise.all([subscribe(host), subscribe(host), subscribe(host)]);
  await run(host, sessionID, "Hi");
  const [first, ...others] = await Promise.all(live.map((events) => readUntil(events, "session.next.step.ended")));
  for (const other of others) expect(other).toStrictEqual(first);
  await Promise.all(live.map((events) => events.return?.()));
});

test("delivers many simultaneous deltas in order", async () => {
  const { host, model, sessionID } = await setUpSession();
  // The number of events that may wait for a slow reader.
  const deltas = Array.from({ length: 240 }, (_, n) => `${n} `);
  model.reply({ deltas });
  const events = await watch(host, sessionID, "Count");
  expect(textDeltas(events)).toEqual(deltas);
});

test("disconnects a subscriber that does not read, reports it, and keeps other subscribers", async () => {
  const { host, model } = await setUpSession();
  const idle = await subscribe(host);
  const attentive = await subscribe(host);
  // Together more bytes than may wait for a subscriber.
  for (let n = 0; n < 10; n += 1) {
    model.reply({ deltas: ["x".repeat(500_000), "y".repeat(500_000)] });
    const session = await host.sessions.create();
    const reading = readUntil(attentive, "session.next.step.ended");
    await run(host, session.id, "Write a lot");
    expect(types(await reading).filter((type) => type === "text.delta")).toHaveLength(2);
  }
  await expect(rejection(readUntil(idle, "global.disposed"))).resolves.toMatchObject({
    name: "ClientError",
    reason: "Transport",
  });
  await attentive.return?.();
});
