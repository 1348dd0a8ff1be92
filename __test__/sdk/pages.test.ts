import { run, setUpSession } from "../embedded/support";
import { createSdk, transports, type Sdk } from "./support";

/** A session with seven messages, and their ids, oldest first. */
async function setUpMessages(open: (typeof transports)[0][1]) {
  const { setup, host, sessionID } = await setUpSession();
  for (const text of ["One", "Two", "Three"]) await run(host, sessionID, text);
  await host.sessions.switchAgent({ sessionID, agent: "plan" });
  const v2 = createSdk(await open(host), setup.directory);
  const all = await v2.session.messages({ sessionID, order: "asc" });
  return { host, sessionID, v2, ids: all.data!.data.map(({ id }) => id) };
}

async function page(v2: Sdk, query: Parameters<Sdk["session"]["messages"]>[0]) {
  const { data, error } = await v2.session.messages(query);
  if (data === undefined) throw new Error(JSON.stringify(error));
  return { ids: data.data.map(({ id }) => id), next: data.cursor.next!, previous: data.cursor.previous! };
}

describe.each(transports)("%s", (_, open) => {
  test.each(["asc", "desc"] as const)("pages of messages can be read to the empty page and back, %s", async (order) => {
    const { v2, sessionID, ids } = await setUpMessages(open);
    expect(ids).toHaveLength(7);
    const expected = order === "asc" ? ids : ids.toReversed();
    const first = await page(v2, { sessionID, order, limit: 3 });
    const second = await page(v2, { sessionID, cursor: first.next });
    const third = await page(v2, { sessionID, cursor: second.next });
    expect([first.ids, second.ids, third.ids]).toEqual([expected.slice(0, 3), expected.slice(3, 6), expected.slice(6)]);
    await expect(page(v2, { sessionID, cursor: third.next })).resolves.toEqual({ ids: [], next: null, previous: null });
    await expect(page(v2, { sessionID, cursor: third.previous })).resolves.toEqual(second);
    await expect(page(v2, { sessionID, cursor: second.previous })).resolves.toEqual(first);
    await expect(page(v2, { sessionID, cursor: first.previous })).resolves.toMatchObject({ ids: [] });
  });

  test("a limit together with a cursor applies, and the next cursors keep it", async () => {
    const { v2, sessionID, ids } = await setUpMessages(open);
    const first = await page(v2, { sessionID, order: "asc", limit: 3 });
    const wider = await page(v2, { sessionID, cursor: first.next, limit: 2 });
    expect(wider.ids).toEqual(ids.slice(3, 5));
    const last = await page(v2, { sessionID, cursor: wider.next });
    expect(last.ids).toEqual(ids.slice(5, 7));
  });
});

test("a cursor at a position without messages continues from there", async () => {
  const { v2, sessionID, ids } = await setUpMessages(transports[0]![1]);
  const first = await page(v2, { sessionID, order: "asc", limit: 2 });
  const content = JSON.parse(Buffer.from(first.next, "base64url").toString());
  // The sequence after that of the last message belongs to an event without a message.
  content.page.from.anchor += 1;
  const cursor = Buffer.from(JSON.stringify(content)).toString("base64url");
  await expect(page(v2, { sessionID, cursor })).resolves.toMatchObject({ ids: ids.slice(2, 4) });
});
