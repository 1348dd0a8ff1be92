import { collect, createTestClient, deferred, events, now, openEvents, pending, rejection, settle } from "./support";

const done = { done: true, value: undefined };

function openIterator() {
  const source = openEvents();
  const { client, requests } = createTestClient(() => source.response);
  const iterator = client.sessions.events({ sessionID: "ses_1" })[Symbol.asyncIterator]();
  return { iterator, requests, source };
}

test("no request is sent before next()", async () => {
  const { iterator, requests } = openIterator();
  await settle();
  expect(requests).toEqual([]);
  void iterator.next();
  await settle();
  expect(requests).toHaveLength(1);
  await iterator.return();
});

test("return() before next() sends no request", async () => {
  const { iterator, requests } = openIterator();
  await expect(iterator.return("value")).resolves.toEqual({ done: true, value: "value" });
  await expect(iterator.next()).resolves.toEqual(done);
  expect(requests).toEqual([]);
});

test("an input that cannot be sent rejects next(), and the call does not throw", async () => {
  const { client } = createTestClient(() => events([]));
  const iterator = client.sessions.events({})[Symbol.asyncIterator]();
  await expect(iterator.next()).rejects.toMatchObject({ _tag: "InvalidRequestError" });
});

test("every iterator has its own connection", async () => {
  const { client, requests } = createTestClient(() => events(['data: {"seq":1}\n\n']));
  const iterable = client.sessions.events({ sessionID: "ses_1", after: 0 });
  await expect(collect(iterable)).resolves.toEqual([{ seq: 1 }]);
  await expect(collect(iterable)).resolves.toEqual([{ seq: 1 }]);
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill("http://host/api/session/ses_1/event?after=0"));
});

test("concurrent next() are answered in the order of the calls", async () => {
  const { iterator, source } = openIterator();
  const reads = Promise.all([iterator.next(), iterator.next(), iterator.next(), iterator.next()]);
  await settle();
  for (const seq of [1, 2, 3]) source.send({ seq });
  source.end();
  await expect(reads).resolves.toEqual([
    { done: false, value: { seq: 1 } },
    { done: false, value: { seq: 2 } },
    { done: false, value: { seq: 3 } },
    done,
  ]);
});

test("a next() with an available event does not overtake an earlier next()", async () => {
  const { iterator, source } = openIterator();
  source.send({ seq: 1 });
  await iterator.next();
  const second = iterator.next();
  source.send({ seq: 2 });
  source.send({ seq: 3 });
  const third = iterator.next();
  await expect(third).resolves.toEqual({ done: false, value: { seq: 3 } });
  await expect(second).resolves.toEqual({ done: false, value: { seq: 2 } });
  await iterator.return();
});

test("a clean end completes the iteration permanently", async () => {
  const { iterator, source } = openIterator();
  source.end();
  await expect(iterator.next()).resolves.toEqual(done);
  await expect(iterator.next()).resolves.toEqual(done);
});

test("a broken body rejects the oldest pending read and ends the others", async () => {
  const { iterator, source } = openIterator();
  const first = rejection(iterator.next());
  const second = iterator.next();
  await settle();
  source.fail(new Error("reset"));
  await expect(first).resolves.toMatchObject({ name: "ClientError", reason: "Transport", cause: { message: "reset" } });
  await expect(second).resolves.toEqual(done);
  await expect(iterator.next()).resolves.toEqual(done);
});

test("leaving the loop cancels the body", async () => {
  const source = openEvents();
  const { client } = createTestClient(() => source.response);
  source.send({ seq: 1 });
  source.send({ seq: 2 });
  for await (const event of client.events.subscribe()) {
    expect(event).toEqual({ seq: 1 });
    break;
  }
  expect(source.state.cancelled).toBe(true);
});

test("return() settles pending reads at once", async () => {
  const { iterator, source } = openIterator();
  const reads = [iterator.next(), iterator.next()];
  await settle();
  const returned = iterator.return("value");
  expect(source.state.cancelled).toBe(true);
  await expect(returned).resolves.toEqual({ done: true, value: "value" });
  await expect(Promise.all(reads)).resolves.toEqual([done, done]);
});

test("return() discards undelivered events", async () => {
  const { iterator, source } = openIterator();
  source.send({ seq: 1 });
  source.send({ seq: 2 });
  await iterator.next();
  await iterator.return();
  await expect(iterator.next()).resolves.toEqual(done);
});

test("return() while connecting aborts the request", async () => {
  let signal: AbortSignal | undefined;
  const source = openEvents();
  const answer = deferred<Response>();
  const { client } = createTestClient((_, init) => {
    signal = init.signal as AbortSignal;
    return answer.promise;
  });
  const iterator = client.events.subscribe()[Symbol.asyncIterator]();
  const read = iterator.next();
  expect(await now(read)).toBe(pending);
  await iterator.return();
  await expect(read).resolves.toEqual(done);
  expect(signal?.aborted).toBe(true);
  // This fetch ignores its signal. The client closes the response that arrives late.
  answer.resolve(source.response);
  await settle();
  expect(source.state.cancelled).toBe(true);
});

test("throw() ends the stream and rejects with its argument", async () => {
  const { iterator, source } = openIterator();
  const read = iterator.next();
  await settle();
  const thrown = new Error("thrown");
  await expect(rejection(iterator.throw(thrown))).resolves.toBe(thrown);
  await expect(read).resolves.toEqual(done);
  expect(source.state.cancelled).toBe(true);
});

test("an iterator can be disposed", async () => {
  const { iterator, source } = openIterator();
  {
    await using disposed = iterator;
    source.send({ seq: 1 });
    await disposed.next();
  }
  expect(source.state.cancelled).toBe(true);
  await expect(iterator.next()).resolves.toEqual(done);
});

test("an iterator is its own iterable", () => {
  const { iterator } = openIterator();
  expect(iterator[Symbol.asyncIterator]()).toBe(iterator);
});

test("the events of one chunk are delivered in order to all readers", async () => {
  const count = 20_000;
  const text = Array.from({ length: count }, (_, seq) => `data: ${JSON.stringify({ seq })}\n\n`).join("");
  const { client } = createTestClient(() => events([text]));
  const expected = Array.from({ length: count }, (_, seq) => ({ seq }));
  await expect(collect(client.events.subscribe())).resolves.toEqual(expected);

  const iterator = client.events.subscribe()[Symbol.asyncIterator]();
  const reads = await Promise.all(Array.from({ length: count }, () => iterator.next()));
  expect(reads.map(({ value }) => value)).toEqual(expected);
  await iterator.return();
});
