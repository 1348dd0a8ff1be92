import { mkdirSync } from "node:fs";
import path from "node:path";
import type { SessionInfo, SessionsListInput } from "../../index.js";
import { setUp, setUpSession } from "./support";

const newTokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

test("a new session has its Location and a cost of zero", async () => {
  const { setup, host, session } = await setUpSession();
  expect(session).toStrictEqual({
    id: expect.stringMatching(/^ses_\w+$/),
    projectID: "global",
    cost: 0,
    tokens: newTokens,
    time: { created: expect.any(Number), updated: session.time.created },
    title: `New session - ${new Date(session.time.created).toISOString()}`,
    location: { directory: setup.directory },
    subpath: setup.directory.slice(1),
  });
  await expect(host.sessions.get({ sessionID: session.id })).resolves.toStrictEqual(session);
});

test("the caller chooses agent, model and location", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const elsewhere = path.join(setup.root, "elsewhere");
  mkdirSync(elsewhere);
  const session = await host.sessions.create({
    id: "ses_mine",
    agent: "no-such-agent",
    model: { providerID: "no", id: "such/model" },
    location: { directory: elsewhere },
  });
  expect(session).toMatchObject({
    id: "ses_mine",
    agent: "no-such-agent",
    model: { providerID: "no", id: "such/model", variant: "default" },
    location: { directory: elsewhere },
  });
});

test("creating a session with an existing id returns that session unchanged, also in parallel", async () => {
  const { host } = await setUpSession();
  const create = (agent: string) => host.sessions.create({ id: "ses_once", agent });
  const sessions = await Promise.all(["a", "b", "c", "d", "e"].map(create));
  expect(new Set(sessions.map((session) => JSON.stringify(session))).size).toBe(1);
  await expect(host.sessions.create({ id: "ses_once", location: { directory: "/no/such/place" } })).resolves.toEqual(
    sessions[0],
  );
  const { items } = await host.sessions.list();
  expect(items.filter(({ id }) => id === "ses_once")).toHaveLength(1);
});

test("pages contain all sessions, forwards and backwards, in either order", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const created: SessionInfo[] = [];
  for (let n = 0; n < 7; n += 1) created.push(await host.sessions.create());
  const ids = created.map(({ id }) => id);
  for (const order of ["asc", "desc"] as const) {
    const expected = order === "asc" ? ids : ids.toReversed();
    const pages = await walk({ order, limit: 3 });
    expect(pages.map(({ items }) => items.map(({ id }) => id))).toEqual([
      expected.slice(0, 3),
      expected.slice(3, 6),
      expected.slice(6),
    ]);
    const back = await host.sessions.list({ cursor: pages[2]!.previous! });
    expect(back.items).toEqual(pages[1]!.items);
  }

  async function walk(query: SessionsListInput) {
    const pages = [];
    for (let page = await host.sessions.list(query); page.items.length > 0;) {
      pages.push(page);
      page = await host.sessions.list({ cursor: page.next! });
    }
    return pages;
  }
});

// The order of sessions of the same millisecond is that of their ids.
test("an empty page has no cursors", async () => {
  const setup = await setUp();
  const host = await setup.open();
  await expect(host.sessions.list()).resolves.toStrictEqual({ items: [] });
});

test("the last cursor finds sessions that were added later", async () => {
  const { host, session } = await setUpSession();
  const newest = await host.sessions.list();
  expect(newest.items.map(({ id }) => id)).toEqual([session.id]);
  let later = await host.sessions.create();
  while (later.time.created === session.time.created) later = await host.sessions.create();
  const appeared = await host.sessions.list({ cursor: newest.previous! });
  expect(appeared.items.map(({ id }) => id)).toContain(later.id);
  expect(appeared.items.map(({ id }) => id)).not.toContain(session.id);
});

test("filters lists by the query", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const other = path.join(setup.root, "other");
  mkdirSync(other);
  const here = await host.sessions.create();
  const there = await host.sessions.create({ location: { directory: other } });
  const ids = async (query: SessionsListInput) => {
    const { items } = await host.sessions.list(query);
    return items.map(({ id }) => id);
  };
  await expect(ids({ directory: other })).resolves.toEqual([there.id]);
  await expect(ids({ directory: setup.directory })).resolves.toEqual([here.id]);
  await expect(ids({ project: "global", subpath: other.slice(1) })).resolves.toEqual([there.id]);
  await expect(ids({ project: "no-such-project" })).resolves.toEqual([]);
  await expect(ids({ search: "NEW SESSION" })).resolves.toHaveLength(2);
  await expect(ids({ search: "another title" })).resolves.toEqual([]);
});

test("health and location need no session", async () => {
  const setup = await setUp();
  const host = await setup.open();
  await expect(host.health.get()).resolves.toStrictEqual({ healthy: true });
  const project = { id: "global", directory: "/" };
  await expect(host.location.get()).resolves.toStrictEqual({ directory: setup.directory, project });
  await expect(host.location.get({ location: { directory: setup.root } })).resolves.toStrictEqual({
    directory: setup.root,
    project,
  });
});

test("records and shows a switch of agent and model", async () => {
  const { host, sessionID } = await setUpSession();
  await host.sessions.switchAgent({ sessionID, agent: "plan" });
  await host.sessions.switchModel({ sessionID, model: { providerID: "mock", id: "m1" } });
  await host.sessions.switchModel({ sessionID, model: { providerID: "mock", id: "m1" } });
  const session = await host.sessions.get({ sessionID });
  expect(session).toMatchObject({ agent: "plan", model: { providerID: "mock", id: "m1", variant: "default" } });
  const { items } = await host.sessions.messages({ sessionID, order: "asc" });
  expect(items).toStrictEqual([
    { id: expect.any(String), type: "agent-switched", agent: "plan", time: { created: expect.any(Number) } },
    {
      id: expect.any(String),
      type: "model-switched",
      model: { providerID: "mock", id: "m1" },
      time: { created: expect.any(Number) },
    },
  ]);
});
