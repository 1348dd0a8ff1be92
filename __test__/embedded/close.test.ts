import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { rejection } from "../client/support";
import { readIfPresent } from "./processes";
import { readHistory, readTranscript, readUntil, run, setUpSession, subscribe, types } from "./support";

const transport = { name: "ClientError", reason: "Transport" };

test("ends a live stream cleanly after global.disposed", async () => {
  const { host } = await setUpSession();
  const live = await subscribe(host);
  await host.close();
  const events = await readUntil(live, "global.disposed");
  expect(events).toStrictEqual([{ id: expect.stringMatching(/^evt_/), type: "global.disposed", data: {} }]);
  await expect(live.next()).resolves.toEqual({ done: true, value: undefined });
});

test("breaks a durable stream, so that a reader cannot take it for complete", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await readUntil(events, "session.next.step.ended");
  const waiting = rejection(events.next());
  await host.close();
  await expect(waiting).resolves.toMatchObject(transport);
  await expect(events.next()).resolves.toEqual({ done: true, value: undefined });
});

test("an unread stream does not delay closing", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await events.next();
  await host.close();
  await expect(rejection(readUntil(events, "session.next.revert.staged"))).resolves.toMatchObject(transport);
});

test("settles a running turn first, and a wait for it returns", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  const live = await subscribe(host);
  model.reply({ deltas: ["Once upon", " a time."], gate: "middle" }, { text: "Good morning." });
  await host.sessions.prompt({ sessionID, prompt: { text: "Tell me a story" } });
  await readUntil(live, "session.next.text.delta");
  const waiting = host.sessions.wait({ sessionID });
  await host.close();
  await waiting;

  // The live stream contains the end of the turn.
  expect(types(await readUntil(live, "global.disposed"))).toEqual([
    "text.ended",
    "step.failed",
    "session.status",
    "session.idle",
    "global.disposed",
  ]);
  const request = await model.received(1);
  await request.closed;
  expect(request.aborted).toBe(true);

  const again = await setup.open();
  expect((await readHistory(again, sessionID)).at(-1)).toMatchObject({
    type: "session.next.step.failed",
    data: { error: { message: "Provider turn interrupted" } },
  });
  await run(again, sessionID, "And then?");
  await expect(readTranscript(again, sessionID)).resolves.toEqual([
    "user: Tell me a story",
    "assistant: Once upon",
    "user: And then?",
    "assistant: Good morning.",
  ]);
});

test("sends a subscriber the end of its session's turn before the stream breaks", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  const seen: string[] = [];
  const follow = async () => {
    for await (const { type } of host.sessions.events({ sessionID })) seen.push(type);
  };
  const following = rejection(follow());
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Tell me a story" } });
  await readUntil(live, "session.next.text.delta");
  await host.close();
  await expect(following).resolves.toMatchObject(transport);
  expect(types(seen.map((type) => ({ type })))).toEqual([
    "prompt.admitted",
    "prompted",
    "step.started",
    "text.started",
    "text.ended",
    "step.failed",
  ]);
});

test("an endless answer and the prompts queued behind it do not delay closing", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  model.reply({ deltas: Array.from({ length: 100_000 }, (_, n) => ` word${n}`), delayMs: 1 });
  await host.sessions.prompt({ sessionID, prompt: { text: "Never stop" } });
  await host.sessions.prompt({ sessionID, prompt: { text: "Then this" }, delivery: "queue" });
  await readUntil(await subscribe(host), "session.next.text.delta");
  const began = performance.now();
  await host.close();
  // After ten seconds it would have stopped waiting.
  expect(performance.now() - began).toBeLessThan(9_000);
  const request = await model.received(1);
  await request.closed;
  expect(request.aborted).toBe(true);

  const again = await setup.open();
  expect((await readHistory(again, sessionID)).at(-1)).toMatchObject({ type: "session.next.step.failed" });
  await expect(again.sessions.inbox.list({ sessionID })).resolves.toMatchObject([{ prompt: { text: "Then this" } }]);
});

test.each(["events", "sessions"] as const)("the reader of a stream of %s may close the host", async (group) => {
  const { host, sessionID } = await setUpSession();
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  const stream = group === "events" ? host.events.subscribe() : host.sessions.events({ sessionID });
  const read = async () => {
    for await (const _ of stream) await host.close();
  };
  // The live stream ends. The durable stream breaks.
  const outcome = await read().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (group === "events") expect(outcome).toBeUndefined();
  else expect(outcome).toMatchObject(transport);
});

test("opening the file while another host closes it succeeds or fails with DatabaseInUseError", async () => {
  const { setup, host } = await setUpSession();
  const closing = host.close();
  const [opened] = await Promise.allSettled([setup.open()]);
  if (opened.status === "fulfilled") await opened.value.close();
  else expect(opened.reason).toMatchObject({ _tag: "DatabaseInUseError", path: setup.database });
  await closing;
  await expect((await setup.open()).health.get()).resolves.toEqual({ healthy: true });
});

test("refuses every later call", async () => {
  const { host, session, sessionID } = await setUpSession();
  await host.close();
  const closed = { ...transport, cause: { message: "The host is closed" } };
  const calls: (() => PromiseLike<unknown>)[] = [
    () => host.health.get(),
    () => host.sessions.create(),
    () => host.sessions.get({ sessionID }),
    () => host.sessions.prompt({ sessionID, prompt: { text: "Hi" } }),
    () => host.sessions.wait({ sessionID }),
    () => host.sessions.events({ sessionID })[Symbol.asyncIterator]().next(),
    () => host.events.subscribe()[Symbol.asyncIterator]().next(),
    () => host.fetch(`http://host/api/session/${session.id}`),
  ];
  for (const call of calls) await expect(rejection(call())).resolves.toMatchObject(closed);
});

test("settles the calls that are in progress", async () => {
  const { setup, host, sessionID } = await setUpSession();
  const calls = Array.from({ length: 50 }, (_, n) =>
    host.sessions.prompt({ sessionID, prompt: { text: `Prompt ${n}` }, resume: false }),
  );
  const [settled] = await Promise.all([Promise.allSettled(calls), host.close()]);
  // Each acknowledged prompt is stored. Each other call was refused.
  const again = await setup.open();
  const history = await readHistory(again, sessionID);
  const stored = new Set(history.map(({ data }) => "messageID" in data && data.messageID));
  for (const result of settled) {
    if (result.status === "fulfilled") expect(stored).toContain(result.value.id);
    else expect(result.reason).toMatchObject({ message: expect.any(String) });
  }
});

test("a second close returns the result of the first", async () => {
  const { host } = await setUpSession();
  const first = host.close();
  expect(host.close()).toBe(first);
  await first;
  await expect(host.close()).resolves.toBeUndefined();
  await expect(host[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

test("`await using` closes the host", async () => {
  const { setup, host, sessionID } = await setUpSession();
  await host.close();
  {
    await using scoped = await setup.open();
    await expect(scoped.sessions.get({ sessionID })).resolves.toMatchObject({ id: sessionID });
  }
  await using again = await setup.open();
  await expect(again.health.get()).resolves.toEqual({ healthy: true });
});

test("keeps the data after reopening", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("a.txt", "A");
  model.reply({ reasoning: "Hm.", tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "A." });
  await run(host, sessionID, "Read");
  await run(host, sessionID, "Pending", { id: "msg_pending", resume: false });
  const read = async (opened: typeof host) => ({
    session: await opened.sessions.get({ sessionID }),
    sessions: await opened.sessions.list(),
    messages: await opened.sessions.messages({ sessionID }),
    context: await opened.sessions.context({ sessionID }),
    history: await opened.sessions.history({ sessionID }),
  });
  const before = await read(host);
  await host.close();
  const again = await setup.open();
  await expect(read(again)).resolves.toStrictEqual(before);

  // Opening starts no drain. The next wake does.
  await again.sessions.wait({ sessionID });
  expect(model.requests).toHaveLength(2);
  await run(again, sessionID, "Go on");
  expect((await readTranscript(again, sessionID)).slice(3, 5)).toEqual(["user: Pending", "user: Go on"]);
});

/** Number of directories that this process watches. */
function countWatches() {
  // The descriptor that was used to read the list is closed by now.
  const infos = readdirSync("/proc/self/fdinfo").map((it) => readIfPresent(`/proc/self/fdinfo/${it}`) ?? "");
  return infos
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("inotify ")).length;
}

test("a closed host that the program still references watches no directories", async () => {
  const { host, setup, model, sessionID } = await setUpSession();
  execFileSync("git", ["init", "--quiet", setup.directory]);
  // Smaller projects are not watched.
  for (let file = 0; file < 1100; file++) setup.write(`${file}.txt`, `${file}`);
  const watching = [];
  for (const text of ["first", "second"]) {
    model.reply({ tools: [{ name: "write", input: { path: `${text}.md`, content: text } }] }, { text: "Done." });
    await run(host, sessionID, text);
    watching.push(countWatches());
  }
  expect(watching.at(-1)).toBeGreaterThan(0);
  await host.close();
  // A scan of all files that is in progress ends first.
  while (countWatches() > 0) await setImmediate();
  expect(Object.keys(host)).toContain("sessions");
});
