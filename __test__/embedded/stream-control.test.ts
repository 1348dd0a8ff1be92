import type { RequestOptions } from "../../index.js";
import { listenerCount, rejection } from "../client/support";
import { run, setUpSession } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

const streams = [
  ["durable", ({ host, sessionID }: Started, options?: RequestOptions) => host.sessions.events({ sessionID }, options)],
  ["live", ({ host }: Started, options?: RequestOptions) => host.events.subscribe(options)],
] as const;

/** A session with one pending prompt. Its streams all begin with the same event. */
async function sessionWithPrompt() {
  const started = await setUpSession();
  await started.host.sessions.prompt({ sessionID: started.sessionID, prompt: { text: "Hi" }, resume: false });
  return started;
}

const aborted = { name: "ClientError", reason: "Transport", cause: "enough" };
const done = { done: true, value: undefined };

describe.each(streams)("a %s stream", (_, open) => {
  test("is not opened if its signal is already aborted", async () => {
    const signal = AbortSignal.abort("enough");
    const events = open(await sessionWithPrompt(), { signal })[Symbol.asyncIterator]();
    await expect(rejection(events.next())).resolves.toMatchObject(aborted);
    await expect(events.next()).resolves.toEqual(done);
    expect(listenerCount(signal)).toBe(0);
  });

  test("is aborted while it is being opened", async () => {
    const controller = new AbortController();
    const events = open(await sessionWithPrompt(), controller)[Symbol.asyncIterator]();
    const first = rejection(events.next());
    controller.abort("enough");
    await expect(first).resolves.toMatchObject(aborted);
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test("is aborted while a read waits", async () => {
    const controller = new AbortController();
    const events = open(await sessionWithPrompt(), controller)[Symbol.asyncIterator]();
    await events.next();
    const waiting = rejection(events.next());
    expect(listenerCount(controller.signal)).toBe(1);
    controller.abort("enough");
    await expect(waiting).resolves.toMatchObject(aborted);
    await expect(events.next()).resolves.toEqual(done);
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test("is aborted between two reads", async () => {
    const controller = new AbortController();
    const events = open(await sessionWithPrompt(), controller)[Symbol.asyncIterator]();
    await events.next();
    controller.abort("enough");
    await expect(rejection(events.next())).resolves.toMatchObject(aborted);
    await expect(events.next()).resolves.toEqual(done);
  });

  test("ignores an abort after its end", async () => {
    const controller = new AbortController();
    const events = open(await sessionWithPrompt(), controller)[Symbol.asyncIterator]();
    await events.next();
    await events.return?.();
    controller.abort("too late");
    await expect(events.next()).resolves.toEqual(done);
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test("is closed when the loop is left, and removes its listener", async () => {
    const { signal } = new AbortController();
    let seen = 0;
    for await (const _event of open(await sessionWithPrompt(), { signal })) {
      seen += 1;
      expect(listenerCount(signal)).toBe(1);
      break;
    }
    expect(seen).toBe(1);
    expect(listenerCount(signal)).toBe(0);
  });

  test("settles a pending read when it is closed", async () => {
    const events = open(await sessionWithPrompt())[Symbol.asyncIterator]();
    await events.next();
    const waiting = [events.next(), events.next()];
    await expect(events.return?.()).resolves.toEqual(done);
    await expect(Promise.all(waiting)).resolves.toEqual([done, done]);
  });

  test("answers concurrent reads in order", async () => {
    const started = await sessionWithPrompt();
    const [eager, patient] = [open(started)[Symbol.asyncIterator](), open(started)[Symbol.asyncIterator]()];
    await Promise.all([eager.next(), patient.next()]);
    const atOnce = Promise.all(Array.from({ length: 6 }, async () => (await eager.next()).value));
    await run(started.host, started.sessionID, "Go on");
    const oneByOne = [];
    while (oneByOne.length < 6) oneByOne.push((await patient.next()).value);
    await expect(atOnce).resolves.toStrictEqual(oneByOne);
    await Promise.all([eager.return?.(), patient.return?.()]);
  });

  test("gives each of two iterators its own events", async () => {
    const iterable = open(await sessionWithPrompt());
    const [one, two] = [iterable[Symbol.asyncIterator](), iterable[Symbol.asyncIterator]()];
    const [{ value: first }, { value: second }] = await Promise.all([one.next(), two.next()]);
    expect(second.type).toBe(first.type);
    const waiting = two.next();
    await one.return?.();
    await two.return?.();
    await expect(waiting).resolves.toEqual(done);
  });

  test("uses one listener for the signal of many calls", async () => {
    const started = await sessionWithPrompt();
    const { signal } = new AbortController();
    const all = Array.from({ length: 20 }, () => open(started, { signal })[Symbol.asyncIterator]());
    await Promise.all(all.map((events) => events.next()));
    expect(listenerCount(signal)).toBe(1);
    await Promise.all(all.map((events) => events.return?.()));
    expect(listenerCount(signal)).toBe(0);
  });

  test("opens nothing before the first read", async () => {
    const events = open(await sessionWithPrompt(), { signal: AbortSignal.abort("never read") })[Symbol.asyncIterator]();
    await expect(events.return?.()).resolves.toEqual(done);
    await expect(events.next()).resolves.toEqual(done);
  });
});

describe("a call", () => {
  test("rejects on an abort before and during it, and ignores one after it", async () => {
    const { host, model, sessionID } = await sessionWithPrompt();
    model.reply({ deltas: ["a", "b"], gate: "middle" });
    const before = host.sessions.wait({ sessionID }, { signal: AbortSignal.abort("enough") });
    await expect(rejection(before)).resolves.toMatchObject(aborted);
    await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    await model.reached("middle");
    const controller = new AbortController();
    const waiting = rejection(host.sessions.wait({ sessionID }, controller));
    controller.abort("enough");
    await expect(waiting).resolves.toMatchObject(aborted);
    expect(listenerCount(controller.signal)).toBe(0);
    // Aborting the wait does not abort the work.
    model.release("middle");
    const later = new AbortController();
    await host.sessions.wait({ sessionID }, later);
    later.abort("too late");
    await expect(host.sessions.active()).resolves.toEqual({});
  });
});
