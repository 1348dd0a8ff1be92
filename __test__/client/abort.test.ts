import { collect, createTestClient, events, json, listenerCount, openEvents, rejection, settle } from "./support";

const reason = new Error("enough");
const aborted = { name: "ClientError", reason: "Transport" };

/** Stands in for the fetch of the platform: rejects with the reason of its signal. */
function untilAborted(_: unknown, init: RequestInit) {
  return new Promise<Response>((_resolve, reject) => {
    init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
  });
}

describe("a call", () => {
  test("sends nothing if its signal is already aborted", async () => {
    const { client, requests } = createTestClient(() => json({ healthy: true }));
    const error = await rejection(client.health.get({ signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject(aborted);
    expect(error.cause).toBe(reason);
    expect(requests).toEqual([]);
  });

  test.each([
    ["that stops", untilAborted],
    ["that ignores its signal", () => new Promise<Response>(() => {})],
  ])("settles at once on abort, with a fetch %s", async (_, answer) => {
    const { client } = createTestClient(answer);
    const controller = new AbortController();
    const call = rejection(client.health.get({ signal: controller.signal }));
    await settle();
    expect(listenerCount(controller.signal)).toBe(1);
    controller.abort(reason);
    const error = await call;
    expect(error).toMatchObject(aborted);
    expect(error.cause).toBe(reason);
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test("settles on abort while its body arrives", async () => {
    const body = new ReadableStream();
    const { client } = createTestClient(() => new Response(body, { headers: { "content-type": "application/json" } }));
    const controller = new AbortController();
    const call = rejection(client.health.get({ signal: controller.signal }));
    await settle();
    controller.abort(reason);
    expect((await call).cause).toBe(reason);
  });

  test("leaves no listener on its signal, after success and after failure", async () => {
    const { signal } = new AbortController();
    await createTestClient(() => json({ healthy: true })).client.health.get({ signal });
    await rejection(createTestClient(() => json({ _tag: "UnknownError" }, 500)).client.health.get({ signal }));
    await rejection(createTestClient(() => Promise.reject(reason)).client.health.get({ signal }));
    await rejection(createTestClient(() => json({})).client.sessions.get({}, { signal }));
    expect(listenerCount(signal)).toBe(0);
  });

  test("shares one listener with all other calls on the same signal", async () => {
    const controller = new AbortController();
    const { client } = createTestClient(untilAborted);
    const calls = Array.from({ length: 20 }, () => rejection(client.health.get({ signal: controller.signal })));
    const reads = Array.from({ length: 20 }, () =>
      rejection(collect(client.events.subscribe({ signal: controller.signal }))),
    );
    await settle();
    expect(listenerCount(controller.signal)).toBe(1);
    controller.abort(reason);
    for (const error of await Promise.all([...calls, ...reads])) expect(error.cause).toBe(reason);
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test("ignores an abort after its end", async () => {
    const controller = new AbortController();
    const { client } = createTestClient(() => json({ healthy: true }));
    const call = client.health.get({ signal: controller.signal });
    await call;
    controller.abort(reason);
    await expect(call).resolves.toEqual({ healthy: true });
  });
});

describe("a stream", () => {
  test("sends no request if its signal is already aborted", async () => {
    const { client, requests } = createTestClient(() => events([]));
    const iterator = client.events.subscribe({ signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
    const error = await rejection(iterator.next());
    expect(error).toMatchObject(aborted);
    expect(error.cause).toBe(reason);
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
    expect(requests).toEqual([]);
  });

  test("listens to its signal from its first next() to its end", async () => {
    const controller = new AbortController();
    const source = openEvents();
    const { client } = createTestClient(() => source.response);
    const iterator = client.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    expect(listenerCount(controller.signal)).toBe(0);
    source.send({ seq: 1 });
    await iterator.next();
    expect(listenerCount(controller.signal)).toBe(1);
    source.end();
    await iterator.next();
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test.each([
    ["the body breaks", (source: ReturnType<typeof openEvents>) => source.fail(reason)],
    ["an event is malformed", (source: ReturnType<typeof openEvents>) => source.send(null)],
  ])("leaves no listener on its signal when %s", async (_, breakIt) => {
    const { signal } = new AbortController();
    const source = openEvents();
    const { client } = createTestClient(() => source.response);
    breakIt(source);
    await rejection(collect(client.events.subscribe({ signal })));
    expect(listenerCount(signal)).toBe(0);
  });

  test("leaves no listener on its signal when the loop is left or the stream cannot be opened", async () => {
    const { signal } = new AbortController();
    const { client } = createTestClient(() => events(["data: {}\n\n"]));
    for await (const _ of client.events.subscribe({ signal })) break;
    await rejection(collect(createTestClient(() => json({}, 418)).client.events.subscribe({ signal })));
    expect(listenerCount(signal)).toBe(0);
  });

  test("closes at once on abort while a read waits", async () => {
    const controller = new AbortController();
    const source = openEvents();
    const { client } = createTestClient(() => source.response);
    const iterator = client.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    const first = rejection(iterator.next());
    const second = iterator.next();
    await settle();
    controller.abort(reason);
    expect(source.state.cancelled).toBe(true);
    const error = await first;
    expect(error).toMatchObject(aborted);
    expect(error.cause).toBe(reason);
    await expect(second).resolves.toEqual({ done: true, value: undefined });
    expect(listenerCount(controller.signal)).toBe(0);
  });

  test("closes at once on abort without a pending read, and the next read rejects", async () => {
    const controller = new AbortController();
    const source = openEvents();
    const { client } = createTestClient(() => source.response);
    const iterator = client.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    source.send({ seq: 1 });
    source.send({ seq: 2 });
    await iterator.next();
    controller.abort(reason);
    expect(source.state.cancelled).toBe(true);
    expect((await rejection(iterator.next())).cause).toBe(reason);
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test("stops on abort while it is being opened", async () => {
    const controller = new AbortController();
    const { client } = createTestClient(untilAborted);
    const iterator = client.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    const read = rejection(iterator.next());
    await settle();
    controller.abort(reason);
    expect((await read).cause).toBe(reason);
    expect(listenerCount(controller.signal)).toBe(0);
  });
});
