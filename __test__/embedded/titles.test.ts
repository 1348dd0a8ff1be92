// Titles that a model writes, and when it is asked for them.

import { run, setUp } from "./support";

const isDefault = /^New session - \d{4}-/;

async function open(options: { titles?: boolean }, config: Record<string, unknown> = {}) {
  const setup = await setUp();
  const host = await setup.open({ ...options, config: setup.model.config(config) });
  const { id: sessionID } = await host.sessions.create();
  const live = host.events.subscribe({ types: ["session.updated"] });
  return { setup, host, sessionID, live, model: setup.model };
}

test("a session is named once, after its first answer", async () => {
  const { host, sessionID, live, model, setup } = await open({ titles: true });
  const named = (async () => {
    for await (const event of live) if (event.type === "session.updated") return event;
    return undefined;
  })();
  model.reply({ text: "Hello." }, { text: "<think>Hm.</think>\nA greeting\nMore" }, { text: "Again." });
  await run(host, sessionID, "Hi");
  const event = await named;
  expect(event).toMatchObject({ durable: { aggregateID: sessionID }, data: { info: { title: "A greeting" } } });
  const { body } = await model.received(2);
  expect(body.tools).toBeUndefined();
  expect(JSON.stringify(body.messages)).toContain("Hi");
  await run(host, sessionID, "More");
  await host.close();
  const again = await setup.open({ titles: true });
  expect((await again.sessions.get({ sessionID })).title).toBe("A greeting");
  expect(model.requests).toHaveLength(3);
});

test.each<[string, { titles?: boolean }, Record<string, unknown>]>([
  ["by default", {}, {}],
  ["if the host does not want titles", { titles: false }, { agents: { title: { system: "Name it." } } }],
])("no request is sent for a title %s", async (_, options, config) => {
  const { host, sessionID, model } = await open(options, config);
  await run(host, sessionID, "Hi");
  await host.close();
  expect(model.requests).toHaveLength(1);
});

test("a refused title leaves the default title and harms no turn", async () => {
  const { host, sessionID, model } = await open({ titles: true });
  model.reply({ text: "Hello." }, { status: 400, body: { error: { message: "no" } } }, { text: "Again." });
  await run(host, sessionID, "Hi");
  await model.received(2);
  await run(host, sessionID, "More");
  expect((await host.sessions.get({ sessionID })).title).toMatch(isDefault);
});
