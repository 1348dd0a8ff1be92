import { createTestClient, json, rejection } from "./support";

/** Answers with `count` items in Pages of two. The cursor is the number of items before the Page. */
function listOf(count: number) {
  return createTestClient(({ url }) => {
    const begin = Number(new URL(url).searchParams.get("cursor") ?? 0);
    const data = Array.from({ length: count }, (_, index) => index).slice(begin, begin + 2);
    return json({ data, cursor: data.length === 0 ? {} : { next: String(begin + data.length) } });
  });
}

async function collect(items: AsyncIterable<unknown>) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

test.each([0, 1, 2, 5])("iterates over a list of %d items", async (count) => {
  const { client } = listOf(count);
  expect(await collect(client.sessions.list({ limit: 2, order: "asc" }))).toEqual(
    Array.from({ length: count }, (_, index) => index),
  );
});

test("sends only the fields that a cursor allows with the cursor", async () => {
  const { client, requests } = listOf(3);
  await collect(client.sessions.messages({ sessionID: "ses_1", limit: 2 }));
  expect(requests.map(({ url }) => url)).toEqual([
    "http://host/api/session/ses_1/message?limit=2",
    "http://host/api/session/ses_1/message?cursor=2",
    "http://host/api/session/ses_1/message?cursor=3",
  ]);
});

test("requests a Page when its caller needs it", async () => {
  const { client, requests } = listOf(6);
  const items = client.sessions.list()[Symbol.asyncIterator]();
  expect(requests).toHaveLength(1);
  await items.next();
  await items.next();
  expect(requests).toHaveLength(1);
  await items.next();
  expect(requests).toHaveLength(2);
  await items.return(undefined);
  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(requests).toHaveLength(2);
});

test("is the first Page if it is awaited", async () => {
  const { client } = listOf(3);
  const list = client.sessions.list();
  expect(list).toBeInstanceOf(Promise);
  expect(await list).toEqual({ items: [0, 1], next: "2" });
  expect(await collect(list)).toEqual([0, 1, 2]);
  expect(await collect(list)).toEqual([0, 1, 2]);
});

test("fails with the failure of a Page", async () => {
  let answers = 0;
  const { client } = createTestClient(() => {
    answers += 1;
    if (answers === 1) return json({ data: [1], cursor: { next: "1" } });
    return json({ _tag: "ServiceUnavailableError", message: "down" }, 503);
  });
  const items: unknown[] = [];
  const walk = async () => {
    for await (const item of client.sessions.list()) items.push(item);
  };
  expect(await rejection(walk())).toMatchObject({ _tag: "ServiceUnavailableError" });
  expect(items).toEqual([1]);
});
