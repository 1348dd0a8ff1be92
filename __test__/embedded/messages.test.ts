import type { SessionMessage, SessionsMessagesInput } from "../../index.js";
import { readMessages, run, setUpSession } from "./support";

/** A session with seven messages. */
async function setUpMessages() {
  const started = await setUpSession();
  const { host, sessionID } = started;
  for (const text of ["One", "Two", "Three"]) await run(host, sessionID, text);
  await host.sessions.switchAgent({ sessionID, agent: "plan" });
  return { ...started, messages: await readMessages(host, sessionID) };
}

const ids = (messages: readonly SessionMessage[]) => messages.map(({ id }) => id);

test.each(["asc", "desc"] as const)("pages can be read forwards and backwards, %s", async (order) => {
  const { host, sessionID, messages } = await setUpMessages();
  const expected = ids(order === "asc" ? messages : messages.toReversed());
  expect(expected).toHaveLength(7);

  const read = (input: SessionsMessagesInput) => host.sessions.messages(input);
  const first = await read({ sessionID, order, limit: 3 });
  // A continuation keeps the order and the page size of its query.
  const second = await read({ sessionID, cursor: first.next! });
  const third = await read({ sessionID, cursor: second.next! });
  expect([first, second, third].map(({ items }) => ids(items))).toEqual([
    expected.slice(0, 3),
    expected.slice(3, 6),
    expected.slice(6),
  ]);
  await expect(read({ sessionID, cursor: third.next! })).resolves.toStrictEqual({ items: [] });
  await expect(read({ sessionID, cursor: third.previous! })).resolves.toStrictEqual(second);
  await expect(read({ sessionID, cursor: second.previous! })).resolves.toStrictEqual(first);
});

test("lists the newest messages first by default", async () => {
  const { host, sessionID, messages } = await setUpMessages();
  const { items } = await host.sessions.messages({ sessionID });
  expect(items).toStrictEqual(messages.toReversed());
});

test("a cursor finds messages that were added later", async () => {
  const { host, sessionID, messages } = await setUpMessages();
  const all = await host.sessions.messages({ sessionID, order: "asc" });
  expect(all.items).toStrictEqual(messages);
  await expect(host.sessions.messages({ sessionID, cursor: all.next! })).resolves.toStrictEqual({ items: [] });
  await run(host, sessionID, "Four");
  const { items } = await host.sessions.messages({ sessionID, cursor: all.next! });
  expect(items.map(({ type }) => type)).toEqual(["user", "assistant"]);
});

test("the context contains every message, oldest first", async () => {
  const { host, sessionID, messages } = await setUpMessages();
  await expect(host.sessions.context({ sessionID })).resolves.toStrictEqual(messages);
});
