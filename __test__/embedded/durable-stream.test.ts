import type { OpenCodeHost, SessionDurableEvent } from "../../index.js";
import { numbered, readHistory, readUntil, run, setUpSession, types } from "./support";

/** Reads `count` events after a sequence, then closes the stream. */
async function take(host: OpenCodeHost, sessionID: string, count: number, after?: number) {
  const events: SessionDurableEvent[] = [];
  for await (const event of host.sessions.events({ sessionID, after })) {
    if (events.push(event) === count) break;
  }
  return events;
}

test("replays from the beginning, or after a sequence", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const history = await readHistory(host, sessionID);
  expect(types(history)).toEqual([
    "prompt.admitted",
    "prompted",
    "step.started",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
  await expect(take(host, sessionID, 6)).resolves.toStrictEqual(history);
  await expect(take(host, sessionID, 6, 0)).resolves.toStrictEqual(history);
  await expect(take(host, sessionID, 2, 4)).resolves.toStrictEqual(history.slice(4));
});

test("delivers events that are committed after it was opened", async () => {
  const { host, sessionID } = await setUpSession();
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  const first = events.next();
  await run(host, sessionID, "Hi");
  const read = [(await first).value, ...(await readUntil(events, "session.next.step.ended"))];
  expect(read).toStrictEqual(await readHistory(host, sessionID));
  await events.return?.();
});

test("waits for a sequence that does not exist yet", async () => {
  const { host, sessionID } = await setUpSession();
  const pending = take(host, sessionID, 1, 6);
  await run(host, sessionID, "One");
  await run(host, sessionID, "Two");
  expect((await pending).map(({ durable }) => durable.seq)).toEqual([7]);
});

test("has the same events as the pages of the history", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const all = await host.sessions.history({ sessionID });
  expect(all.hasMore).toBe(false);
  const pages = [];
  for (let after = 0, hasMore = true; hasMore;) {
    const page = await host.sessions.history({ sessionID, after, limit: 4 });
    pages.push(page.data);
    hasMore = page.hasMore;
    after = page.data.at(-1)!.durable.seq;
  }
  expect(pages.map((page) => page.length)).toEqual([4, 2]);
  expect(pages.flat()).toStrictEqual(all.data);
  await expect(host.sessions.history({ sessionID, after: 100 })).resolves.toStrictEqual({ data: [], hasMore: false });
});

test("has no gap and no duplicate for a reader that stops and resumes during writes", async () => {
  const { host, sessionID } = await setUpSession();
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 10; n += 1) {
      await host.sessions.prompt({ sessionID, prompt: numbered(writer * 10 + n), delivery: n % 2 ? "queue" : "steer" });
    }
  });
  const written = Promise.all(writers).then(() => host.sessions.wait({ sessionID }));

  const read: SessionDurableEvent[] = [];
  const isDone = () => read.filter(({ type }) => type === "session.next.prompted").length === 80;
  for (let size = 1; !isDone(); size = (size % 7) + 1) {
    const end = read.length + size;
    for await (const event of host.sessions.events({ sessionID, after: read.at(-1)?.durable.seq })) {
      if (read.push(event) === end || isDone()) break;
    }
  }
  await written;

  const history = await readHistory(host, sessionID);
  expect(read).toStrictEqual(history.slice(0, read.length));
  expect(history.map(({ durable }) => durable.seq)).toEqual(history.map((_, index) => index + 1));
});

test("delivers all events to a slow reader", async () => {
  const { host, sessionID } = await setUpSession();
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  const read = [(await Promise.all([events.next(), run(host, sessionID, "First")]))[0].value];
  // No reader reads while all of this is written.
  const prompts = Array.from({ length: 300 }, (_, n) =>
    host.sessions.prompt({ sessionID, prompt: { text: `${n} ${"x".repeat(20_000)}` }, resume: false }),
  );
  await Promise.all(prompts);
  await run(host, sessionID, "Last");
  const history = await readHistory(host, sessionID);
  while (read.length < history.length) read.push((await events.next()).value);
  expect(read).toStrictEqual(history);
  await events.return?.();
});

test("paused readers do not delay other readers", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const paused = Array.from({ length: 100 }, () => host.sessions.events({ sessionID })[Symbol.asyncIterator]());
  await Promise.all(paused.map((events) => events.next()));
  await expect(readHistory(host, sessionID)).resolves.toHaveLength(6);
  await Promise.all(paused.map((events) => events.return?.()));
});

test("contains no deltas and no events of other sessions", async () => {
  const { host, model, sessionID } = await setUpSession();
  const other = await host.sessions.create();
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  const first = events.next();
  model.reply({ text: "Other." }, { deltas: ["a", "b", "c"] });
  await run(host, other.id, "Hi");
  await run(host, sessionID, "Hi");
  const read = [(await first).value as SessionDurableEvent, ...(await readUntil(events, "session.next.step.ended"))];
  expect(types(read)).not.toContain("text.delta");
  expect(new Set(read.map(({ data }) => data.sessionID))).toEqual(new Set([sessionID]));
  await events.return?.();
});
