import { ClientError, createClient, resumeEvents } from "../../dist/client/index.js";
import type { EventsRetry, ResumeEventsOptions } from "../../dist/client/index.js";
import { collect, deferred, json, listenerCount, now, openEvents, pending, rejection, settle } from "./support";

const done = { done: true, value: undefined };
const sessionID = "ses_1";
const notFound = { _tag: "SessionNotFoundError", sessionID, message: "Session not found: ses_1" };
const unavailable = { _tag: "ServiceUnavailableError", message: "The host is closing" };
const refused = () => Promise.reject(new TypeError("fetch failed"));
const event = (seq: number) => ({ id: `evt_${seq}`, durable: { seq } });

beforeEach(() => {
  jest.useFakeTimers({ now: 0, doNotFake: ["setImmediate", "nextTick", "queueMicrotask"] });
  // With this value the delay is three quarters of the full delay.
  jest.spyOn(Math, "random").mockReturnValue(0.5);
});

afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** A response whose events are available at once. Without `isOpen` it ends after them. */
function replay(seqs: number[], isOpen = false) {
  const source = openEvents();
  for (const seq of seqs) source.send(event(seq));
  if (!isOpen) source.end();
  return source.response;
}

type Answer = () => Response | Promise<Response>;

/** Iterates over a server that answers one connection after the other, and records the requests. */
function resume(answers: Answer[], options: Partial<ResumeEventsOptions> = {}) {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(new URL(url).search);
    return (answers.shift() ?? refused)();
  };
  const retries: EventsRetry[] = [];
  const client = createClient({ baseUrl: "http://host", fetch });
  const onRetry = (retry: EventsRetry) => void retries.push(retry);
  const iterable = resumeEvents(client, { sessionID, onRetry, ...options });
  return { iterable, iterator: iterable[Symbol.asyncIterator]() as AsyncGenerator<any>, asked, retries };
}

/** Reads `count` events, and lets the time of their connections pass. */
async function read(iterator: AsyncIterator<any>, count: number) {
  const seqs: number[] = [];
  while (seqs.length < count) {
    const next = iterator.next();
    while ((await now(next)) === pending) await jest.advanceTimersByTimeAsync(1);
    seqs.push((await next).value.durable.seq);
  }
  return seqs;
}

/** The failure that ends the iterator, after any number of delays. */
async function failureOf(iterator: AsyncIterator<unknown>) {
  const failure = rejection(iterator.next());
  while ((await now(failure)) === pending) await jest.advanceTimersByTimeAsync(1000);
  return failure;
}

describe("continues after the last event if it meets", () => {
  test.each<[string, Answer]>([
    ["a connection that cannot be made", refused],
    ["a clean end, which the stream does not have", () => replay([])],
    ["a declared temporary failure", () => json(unavailable, 503)],
    ["a gateway without a server", () => new Response("<html>", { status: 502 })],
    ["a gateway with a declared status", () => new Response("<html>", { status: 503 })],
    ["a gateway that answers with JSON", () => json({ message: "Service Unavailable" }, 503)],
    ["too many requests", () => new Response(null, { status: 429 })],
    ["a request that timed out", () => new Response(null, { status: 408 })],
    ["a request that was sent too early", () => new Response(null, { status: 425 })],
    [
      "a body that breaks",
      () => {
        const source = openEvents();
        source.fail(new Error("reset"));
        return source.response;
      },
    ],
  ])("%s", async (_, answer) => {
    const { iterator, asked, retries } = resume([() => replay([1, 2]), answer, () => replay([3], true)]);
    await expect(read(iterator, 3)).resolves.toEqual([1, 2, 3]);
    expect(asked).toEqual(["", "?after=2", "?after=2"]);
    expect(retries.map(({ retry, after }) => [retry, after])).toEqual([
      [1, 2],
      [2, 2],
    ]);
    await iterator.return(undefined);
  });

  test("a break after an event in the middle of a piece", async () => {
    const broken = openEvents();
    broken.send(event(4));
    broken.send(event(5));
    const { iterator, asked } = resume([() => broken.response, () => replay([6, 7], true)], { after: 3 });
    await expect(read(iterator, 2)).resolves.toEqual([4, 5]);
    broken.fail(new Error("reset"));
    await expect(read(iterator, 2)).resolves.toEqual([6, 7]);
    expect(asked).toEqual(["?after=3", "?after=5"]);
    await iterator.return(undefined);
  });

  test("a server that repeats events, and delivers each event once", async () => {
    const answers = [() => replay([1, 2]), () => replay([1, 2, 3, 3, 4], true)];
    const { iterator } = resume(answers);
    await expect(read(iterator, 4)).resolves.toEqual([1, 2, 3, 4]);
    await iterator.return(undefined);
  });

  test("a break before the first event, and starts at the beginning", async () => {
    const { iterator, asked, retries } = resume([refused, () => replay([1], true)]);
    await expect(read(iterator, 1)).resolves.toEqual([1]);
    expect(asked).toEqual(["", ""]);
    expect(retries.map(({ after }) => after)).toEqual([undefined]);
    await iterator.return(undefined);
  });

  test("breaks in several iterators, each with its own position", async () => {
    const answers = [() => replay([1]), () => replay([2], true), () => replay([1, 2], true)];
    const { iterable, iterator, asked } = resume(answers);
    await expect(read(iterator, 2)).resolves.toEqual([1, 2]);
    const second = iterable[Symbol.asyncIterator]();
    await expect(read(second, 2)).resolves.toEqual([1, 2]);
    expect(asked).toEqual(["", "?after=1", ""]);
    await iterator.return(undefined);
    await second.return?.();
  });
});

describe("ends without a retry after", () => {
  const frame = 'event: effect/httpapi/stream/failure\ndata: [{"_tag":"Die","defect":{"name":"UnknownError"}}]\n\n';
  const stream = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const hostClosed = () => Promise.reject(Object.assign(new Error("The host is closed"), { code: "HOST_CLOSED" }));

  test.each<[string, Answer, object]>([
    ["an unknown session", () => json(notFound, 404), notFound],
    ["missing credentials", () => json({ _tag: "UnauthorizedError", message: "" }, 401), { _tag: "UnauthorizedError" }],
    ["a failure of the server", () => json({ _tag: "UnknownError", message: "" }, 500), { _tag: "UnknownError" }],
    [
      "a store that failed",
      () => json({ _tag: "StorePoisonedError", message: "" }, 503),
      { _tag: "StorePoisonedError" },
    ],
    ["another status", () => new Response(null, { status: 418 }), { reason: "UnexpectedStatus" }],
    ["a page of a portal", () => new Response("<html>"), { reason: "UnsupportedContentType" }],
    ["a malformed event", () => stream("data: {\n\n"), { reason: "MalformedResponse" }],
    ["an event without a sequence", () => stream("data: {}\n\n"), { reason: "MalformedResponse" }],
    ["a failure frame of the server", () => stream(frame), { reason: "Transport", cause: [{ _tag: "Die" }] }],
    ["a host that is closed", hostClosed, { reason: "Transport", cause: { code: "HOST_CLOSED" } }],
  ])("%s", async (_, answer, expected) => {
    const { iterator, asked, retries } = resume([() => replay([1]), answer]);
    await expect(read(iterator, 1)).resolves.toEqual([1]);
    await expect(failureOf(iterator)).resolves.toMatchObject(expected);
    await expect(iterator.next()).resolves.toEqual(done);
    expect([asked.length, retries.length]).toEqual([2, 1]);
  });

  test("an input that cannot be sent", async () => {
    const { iterator, asked } = resume([], { sessionID: "" });
    await expect(failureOf(iterator)).resolves.toMatchObject({ _tag: "InvalidRequestError", field: "sessionID" });
    expect(asked).toEqual([]);
  });

  test("an error that onRetry throws", async () => {
    const thrown = new Error("enough");
    const onRetry = () => {
      throw thrown;
    };
    const { iterator } = resume([], { onRetry });
    await expect(failureOf(iterator)).resolves.toBe(thrown);
  });
});

describe("delays", () => {
  const delays = ({ retries }: { retries: EventsRetry[] }) => retries.map(({ delayMs }) => delayMs);

  test("double up to a bound", async () => {
    const resumed = resume(Array(8).fill(refused), { maxRetries: 8 });
    await failureOf(resumed.iterator);
    expect(delays(resumed)).toEqual(
      [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000].map((whole) => Math.round(whole * 0.75)),
    );
    expect(resumed.asked).toHaveLength(9);
  });

  test.each([
    [0, 125],
    [0.999_999, 250],
  ])("are between half and the whole (%p)", async (random, expected) => {
    jest.spyOn(Math, "random").mockReturnValue(random);
    const resumed = resume([refused], { maxRetries: 1 });
    await failureOf(resumed.iterator);
    expect(delays(resumed)).toEqual([expected]);
  });

  test("pass before the next connection", async () => {
    const { iterator, asked } = resume([refused, () => replay([1], true)], { minDelayMs: 1000 });
    const next = iterator.next();
    await expect(now(next)).resolves.toBe(pending);
    await jest.advanceTimersByTimeAsync(749);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    await expect(next).resolves.toMatchObject({ value: event(1) });
    await iterator.return(undefined);
  });

  test("start again after an event", async () => {
    const resumed = resume([refused, refused, () => replay([1]), refused, refused], { maxRetries: 2 });
    await expect(read(resumed.iterator, 1)).resolves.toEqual([1]);
    await failureOf(resumed.iterator);
    expect(resumed.retries.map(({ retry }) => retry)).toEqual([1, 2, 1, 2]);
    expect(delays(resumed)).toEqual([250, 500, 250, 500].map((whole) => Math.round(whole * 0.75)));
  });

  test.each([
    [{ minDelayMs: 4 }, [3, 6]],
    [{ maxDelayMs: 100 }, [75, 75]],
    [{ minDelayMs: 20_000 }, [15_000, 15_000]],
    [{ minDelayMs: 100, maxDelayMs: 150 }, [75, 113]],
  ])("%j", async (options, expected) => {
    const resumed = resume([], { ...options, maxRetries: 2 });
    await failureOf(resumed.iterator);
    expect(delays(resumed)).toEqual(expected);
  });

  test("are absent if no retry is allowed", async () => {
    const { iterator, retries } = resume([refused], { maxRetries: 0 });
    await expect(failureOf(iterator)).resolves.toMatchObject({ name: "ClientError", reason: "Transport" });
    expect(retries).toEqual([]);
  });
});

test.each([
  [{ minDelayMs: 0 }],
  [{ minDelayMs: Number.NaN }],
  [{ minDelayMs: "1" }],
  [{ minDelayMs: 2, maxDelayMs: 1 }],
  [{ maxDelayMs: 2 ** 31 }],
  [{ maxDelayMs: "1000" }],
  [{ maxRetries: -1 }],
  [{ maxRetries: 1.5 }],
  [{ headers: { "a b": "1" } }],
])("refuses %j", (options) => {
  expect(() => resume([], options as never)).toThrow(expect.objectContaining({ name: "TypeError" }));
});

describe("the iterator", () => {
  test("sends no request before next()", async () => {
    const { iterator, asked } = resume([]);
    await settle();
    await expect(iterator.return("value")).resolves.toEqual({ done: true, value: "value" });
    await expect(iterator.next()).resolves.toEqual(done);
    expect(asked).toEqual([]);
  });

  test("sends its headers with every connection", async () => {
    const sent: unknown[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      sent.push(Object.fromEntries(new Headers(init.headers)));
      return replay([]);
    };
    const client = createClient({ baseUrl: "http://host", headers: { a: "client", b: "client" }, fetch });
    const iterator = resumeEvents(client, { sessionID, headers: { b: "call" }, maxRetries: 1 })[Symbol.asyncIterator]();
    await failureOf(iterator);
    const headers = { a: "client", b: "call" };
    expect(sent).toEqual([headers, headers]);
  });

  test("answers concurrent reads in the order of their calls, across a break", async () => {
    const { iterator } = resume([() => replay([1, 2]), () => replay([3], true)]);
    const reads = Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    while ((await now(reads)) === pending) await jest.advanceTimersByTimeAsync(1);
    expect((await reads).map(({ value }: any) => value.durable.seq)).toEqual([1, 2, 3]);
    await iterator.return(undefined);
  });

  test("closes the connection and settles the read if return() is called during a read", async () => {
    const source = openEvents();
    const { iterator } = resume([() => source.response]);
    const next = iterator.next();
    await expect(now(next)).resolves.toBe(pending);
    await expect(now(iterator.return(undefined))).resolves.toEqual(done);
    await expect(now(next)).resolves.toEqual(done);
    expect(source.state.cancelled).toBe(true);
  });

  test("settles the read and stops the timer if return() is called during a delay", async () => {
    const { iterator, asked } = resume([refused]);
    const next = iterator.next();
    await expect(now(next)).resolves.toBe(pending);
    expect(jest.getTimerCount()).toBe(1);
    await expect(now(iterator.return(undefined))).resolves.toEqual(done);
    await expect(now(next)).resolves.toEqual(done);
    expect([jest.getTimerCount(), asked.length]).toEqual([0, 1]);
  });

  test("closes a late response if return() is called during a connection attempt", async () => {
    const source = openEvents();
    const answer = deferred<Response>();
    const { iterator } = resume([() => answer.promise]);
    const next = iterator.next();
    await expect(now(next)).resolves.toBe(pending);
    await iterator.return(undefined);
    await expect(now(next)).resolves.toEqual(done);
    answer.resolve(source.response);
    await settle();
    expect(source.state.cancelled).toBe(true);
  });

  test("closes the connection when the loop is left", async () => {
    const source = openEvents();
    source.send(event(1));
    const { iterable } = resume([() => source.response]);
    for await (const first of iterable) {
      expect(first).toEqual(event(1));
      break;
    }
    expect(source.state.cancelled).toBe(true);
  });

  test("ends if return() is called in onRetry", async () => {
    const onRetry = () => void iterator.return(undefined);
    const { iterator, asked } = resume([refused], { onRetry });
    await expect(iterator.next()).resolves.toEqual(done);
    expect(asked).toHaveLength(1);
  });

  test("can be disposed", async () => {
    const source = openEvents();
    source.send(event(1));
    const { iterator } = resume([() => source.response]);
    {
      await using disposed = iterator;
      await disposed.next();
    }
    expect(source.state.cancelled).toBe(true);
  });
});

describe("abort", () => {
  const reason = new Error("enough");

  test("sends no request if the signal is aborted before the first read", async () => {
    const { iterator, asked } = resume([], { signal: AbortSignal.abort(reason) });
    const error = await rejection(iterator.next());
    expect(error).toBeInstanceOf(ClientError);
    expect([error.reason, error.cause, asked]).toEqual(["Transport", reason, []]);
  });

  test.each<[string, Answer]>([
    ["reads", () => openEvents().response],
    ["waits", refused],
    ["connects", () => new Promise(() => {})],
  ])("rejects the read while it %s, and stays aborted", async (_, answer) => {
    const controller = new AbortController();
    const { iterator, asked, retries } = resume([answer], { signal: controller.signal });
    const failure = rejection(iterator.next());
    await expect(now(failure)).resolves.toBe(pending);
    expect(listenerCount(controller.signal)).toBe(1);
    const before = retries.length;
    controller.abort(reason);
    expect((await failure).cause).toBe(reason);
    await expect(iterator.next()).resolves.toEqual(done);
    expect([asked.length, retries.length, listenerCount(controller.signal)]).toEqual([1, before, 0]);
  });

  test("uses one listener for any number of connections, and removes it at the end", async () => {
    const { signal } = new AbortController();
    const { iterable } = resume([() => replay([1]), refused, refused, () => replay([2]), () => json(notFound, 404)], {
      signal,
    });
    const iterator = iterable[Symbol.asyncIterator]();
    await expect(read(iterator, 2)).resolves.toEqual([1, 2]);
    expect(listenerCount(signal)).toBe(1);
    await failureOf(iterator);
    expect(listenerCount(signal)).toBe(0);
  });
});

test("many events are delivered in order", async () => {
  const seqs = Array.from({ length: 5000 }, (_, index) => index + 1);
  const { iterable } = resume([() => replay(seqs), () => json(notFound, 404)], { minDelayMs: 1 });
  const events: unknown[] = [];
  const reading = rejection(
    collect(
      (async function* () {
        for await (const one of iterable) {
          events.push(one);
          yield one;
        }
      })(),
    ),
  );
  while ((await now(reading)) === pending) await jest.advanceTimersByTimeAsync(1);
  await expect(reading).resolves.toMatchObject(notFound);
  expect(events).toEqual(seqs.map(event));
});
