// Context Sources of the program: baselines, updates, removals, scopes and failures.

import { z } from "zod";
import { isInvalidOptionError, unavailable, type ContextSource, type OpenCodeHost } from "../../index.js";
import { deferred, readMessages, run, setUp, setUpSession, subscribe } from "./support";

/** The texts of a request: its baseline first, prompts and Mid-Conversation System Messages after it. */
async function received(model: Awaited<ReturnType<typeof setUp>>["model"], at: number) {
  const { body } = await model.received(at);
  const messages: { role: string; content: string }[] = body.messages;
  return messages.map(({ content }) => content);
}

const BRANCH = { key: "acme/branch", baseline: (branch: string) => `The branch is ${branch}.` };

test("the model receives the baseline, one update per change, and the removal", async () => {
  const { host, model, sessionID } = await setUpSession();
  let branch = "main";
  const contexts: unknown[] = [];
  const registered = host.contextSources.register({
    ...BRANCH,
    load(context) {
      contexts.push(context);
      return branch;
    },
    update: (previous, current) => `The branch changed from ${previous} to ${current}.`,
    removal: (last) => `The branch is not known any more. It was ${last}.`,
  });
  await run(host, sessionID, "One");
  branch = "feature";
  await run(host, sessionID, "Two");
  await run(host, sessionID, "Three");
  registered.dispose();
  await run(host, sessionID, "Four");
  const [baseline = "", ...later] = await received(model, 4);
  expect((await received(model, 1))[0]).toBe(baseline);
  expect(baseline).toContain("The branch is main.");
  expect(later.filter((text) => text.includes("branch"))).toEqual([
    expect.stringContaining("The branch changed from main to feature."),
    expect.stringContaining("The branch is not known any more. It was feature."),
  ]);
  // One observation per boundary.
  expect(contexts).toHaveLength(3);
  expect(contexts[0]).toMatchObject({ sessionID, agent: "build", signal: expect.any(AbortSignal) });
});

test("a source without a removal text is removed by a new baseline", async () => {
  const { host, model, sessionID } = await setUpSession();
  const registered = host.contextSources.register({ ...BRANCH, load: () => "main" });
  await run(host, sessionID, "One");
  registered.dispose();
  await run(host, sessionID, "Two");
  expect((await received(model, 1)).join()).toContain("The branch is main.");
  expect((await received(model, 2)).join()).not.toContain("The branch is main.");
});

test("a source that is registered later gives its baseline once, also after a restart", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  await run(host, sessionID, "One");
  host.contextSources.register({ ...BRANCH, load: () => "main" });
  await run(host, sessionID, "Two");
  await host.close();
  const again = await setup.open();
  again.contextSources.register({ ...BRANCH, load: () => "main" });
  await run(again, sessionID, "Three");
  const texts = await received(model, 3);
  expect(texts[0]).not.toContain("The branch");
  expect(texts.filter((text) => text.includes("The branch is main."))).toHaveLength(1);
});

test("sources are in the order of their keys", async () => {
  const { host, model, sessionID } = await setUpSession();
  for (const key of ["zoo/a", "acme/b", "acme/a"]) {
    host.contextSources.register({ key, load: () => key, baseline: (value) => `source ${value}` });
  }
  await run(host, sessionID, "One");
  const [baseline = ""] = await received(model, 1);
  const places = ["acme/a", "acme/b", "zoo/a"].map((key) => baseline.indexOf(`source ${key}`));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test.each<[string, ContextSource["load"]]>([
  ["is unavailable", () => unavailable("no network")],
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
  ["rejects", () => Promise.reject(new Error("broken"))],
  ["is too slow", () => new Promise(() => {})],
  ["returns what is not JSON", () => 10n as never],
  ["returns a function", () => (() => "") as never],
])("a source that %s does not block a turn, and the model keeps what it knows", async (_, fail) => {
  const { host, model, sessionID } = await setUpSession();
  let load: ContextSource["load"] = () => "main";
  host.contextSources.register({
    key: "acme/branch",
    load: (context) => load(context),
    baseline: (branch) => `The branch is ${String(branch)}.`,
    timeoutMs: 100,
  });
  await run(host, sessionID, "One");
  load = fail;
  await run(host, sessionID, "Two");
  const before = await received(model, 1);
  expect((await received(model, 2)).slice(0, before.length)).toEqual(before);
  expect((await received(model, 2)).join().split("The branch")).toHaveLength(2);
});

test("a prompt waits for a required source", async () => {
  const { host, model, sessionID } = await setUpSession();
  const branches: string[] = [];
  host.contextSources.register({
    ...BRANCH,
    required: true,
    load: () => branches.at(0) ?? unavailable("the repository is locked"),
  });
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: "One" });
  const failed = [];
  for (let event; event?.type !== "session.error";) failed.push((event = await live.next().then((it) => it.value)));
  expect(JSON.stringify(failed.at(-1))).toContain("acme/branch: the repository is locked");
  expect(model.requests).toEqual([]);
  expect(await host.sessions.inbox.list({ sessionID })).toHaveLength(1);
  branches.push("main");
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  expect((await received(model, 1)).join()).toContain("The branch is main.");
});

test("a value that the schema does not accept any more leads to a new baseline", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  host.contextSources.register({ key: "acme/branch", load: () => "main", baseline: (it) => `Old: ${it}.` });
  await run(host, sessionID, "One");
  await host.close();
  const again = await setup.open();
  const update = jest.fn(() => "never");
  again.contextSources.register({
    key: "acme/branch",
    schema: z.object({ name: z.string() }),
    load: () => ({ name: "main" }),
    baseline: ({ name }) => `New: ${name}.`,
    update,
  });
  await run(again, sessionID, "Two");
  const texts = await received(model, 2);
  expect(texts.join()).toContain("New: main.");
  expect(texts.join()).not.toContain("Old: main.");
  expect(update).not.toHaveBeenCalled();
});

test("a value that the schema refuses is unavailable", async () => {
  const { host, model, sessionID } = await setUpSession();
  host.contextSources.register({ ...BRANCH, schema: z.string().max(3), load: () => "too long" });
  await run(host, sessionID, "One");
  expect((await received(model, 1)).join()).not.toContain("The branch");
});

test("a source of one Location is not observed in another", async () => {
  const setup = await setUp();
  const host = await setup.open();
  host.contextSources.register({ ...BRANCH, load: () => "main" }, { location: { directory: setup.root } });
  const here = await host.sessions.create({ location: { directory: setup.root } });
  const there = await host.sessions.create();
  await run(host, here.id, "One");
  await run(host, there.id, "Two");
  expect((await received(setup.model, 1)).join()).toContain("The branch is main.");
  expect((await received(setup.model, 2)).join()).not.toContain("The branch is main.");
});

test("an interruption aborts the observation", async () => {
  const { host, sessionID } = await setUpSession();
  const began = deferred<AbortSignal>();
  host.contextSources.register({
    ...BRANCH,
    load({ signal }) {
      began.resolve(signal);
      return new Promise<string>(() => {});
    },
  });
  await host.sessions.prompt({ sessionID, prompt: "One" });
  const signal = await began.promise;
  const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await host.sessions.interrupt({ sessionID });
  await aborted;
  await host.sessions.wait({ sessionID });
});

test("a registration wakes no session", async () => {
  const { host, model, sessionID } = await setUpSession();
  host.contextSources.register({ ...BRANCH, load: () => "main" }).dispose();
  await host.sessions.wait({ sessionID });
  expect(model.requests).toEqual([]);
  expect(await readMessages(host, sessionID)).toEqual([]);
});

const GOOD = { ...BRANCH, load: () => "main" };

test.each<[string, unknown, string]>([
  ["no source", undefined, "source"],
  ["no key", { ...GOOD, key: undefined }, "key"],
  ["a key without a namespace", { ...GOOD, key: "branch" }, "key"],
  ["a reserved key", { ...GOOD, key: "core/branch" }, "key"],
  ["no load", { ...GOOD, load: "main" }, "load"],
  ["no baseline", { ...GOOD, baseline: undefined }, "baseline"],
  ["a wrong update", { ...GOOD, update: 5 }, "update"],
  ["a wrong requirement", { ...GOOD, required: "yes" }, "required"],
  ["too much time", { ...GOOD, timeoutMs: 10_001 }, "timeoutMs"],
  ["a wrong schema", { ...GOOD, schema: {} }, "schema"],
  ["a schema that checks nothing", { ...GOOD, schema: { type: "object" } }, "schema"],
  ["a schema of the AI SDK without validation", { ...GOOD, schema: { _type: 0, jsonSchema: {} } }, "schema"],
  ["an unknown member", { ...GOOD, removel: () => "" }, "removel"],
])("refuses %s at once", async (_, source, option) => {
  const { host } = await setUpSession();
  expect(refusal(host, source)).toMatchObject({ option });
});

test("refuses a directory that is not absolute", async () => {
  const { host } = await setUpSession();
  const register = () => host.contextSources.register(GOOD, { location: { directory: "relative" } });
  expect(register).toThrow(expect.objectContaining({ option: "location.directory" }));
});

test("refuses a key twice at one place", async () => {
  const { host } = await setUpSession();
  const registered = host.contextSources.register(GOOD);
  expect(refusal(host, GOOD)).toMatchObject({ option: "key" });
  registered.dispose();
  host.contextSources.register(GOOD);
});

function refusal(host: OpenCodeHost, source: unknown) {
  try {
    host.contextSources.register(source as never);
  } catch (error) {
    return isInvalidOptionError(error) && error;
  }
  return undefined;
}
