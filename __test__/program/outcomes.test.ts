// Functions of the program that return wrong values or use their host from inside.

import { runInNewContext } from "node:vm";
import type { ContextSource, OpenCodeHost, ToolCallContext } from "../../index.js";
import { recorder } from "../embedded/log-support";
import { callTools, deferred, failure, readCalls, run, setUp, setUpSession } from "./support";

/** Six times as long in JSON, which exceeds the longest possible string. */
const HUGE = "\0".repeat(95_000_000);

const WRONG: [name: string, give: () => unknown][] = [
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
  ["rejects", () => Promise.reject(new Error("broken"))],
  [
    "throws a value without a text",
    () => {
      throw {
        toString() {
          throw new Error("broken");
        },
      };
    },
  ],
  [
    "returns a getter that throws",
    () => ({
      get member() {
        throw new Error("broken");
      },
    }),
  ],
  [
    "returns a circle",
    () => {
      const circle: Record<string, unknown> = {};
      circle.circle = circle;
      return circle;
    },
  ],
  ["returns a BigInt", () => 1n],
];

const LONG: (typeof WRONG)[number] = ["returns 100 MB", () => "x".repeat(100_000_000)];

const LARGE: typeof WRONG = [
  [
    "throws a longer text than JSON can hold",
    () => {
      throw new Error(HUGE);
    },
  ],
  LONG,
  ["returns more than JSON can hold", () => ({ member: HUGE })],
];

const TOOL = { name: "wrong", description: "Returns a wrong value.", input: { type: "object" } } as const;

test.each([...WRONG, ...LARGE])("a tool that %s fails its call, and the turn continues", async (_, give) => {
  const started = await setUpSession();
  started.host.tools.register({ ...TOOL, execute: () => give() as never });
  await callTools(started, { name: "wrong", input: {} });
  const [call] = await readCalls(started.host, started.sessionID);
  expect(call?.state.status).toBe("error");
});

test("a progress that JSON cannot represent is logged, also if a timer sends it", async () => {
  const { log, waitForMessage } = recorder();
  const started = await setUpSession({ log });
  const end = deferred();
  started.host.tools.register({
    ...TOOL,
    async execute(_input, { progress }) {
      progress({ at: 1 });
      progress(1n as never);
      await end.promise;
      return "Done";
    },
  });
  const called = callTools(started, { name: "wrong", input: {} });
  await waitForMessage("A progress of the tool wrong is dropped: TypeError: Do not know how to serialize a BigInt");
  end.resolve();
  expect(await called).toEqual(["Done"]);
});

test.each([
  ["this realm", () => Promise.reject(new Error("late"))],
  ["another realm", () => runInNewContext("Promise.reject(new Error('late'))")],
])("a progress that is a promise of %s is dropped, and its rejection ends nothing", async (_, give) => {
  const { log, waitForMessage } = recorder();
  const unhandled = jest.fn();
  process.on("unhandledRejection", unhandled);
  const started = await setUpSession({ log });
  started.host.tools.register({
    ...TOOL,
    execute(_input, { progress }) {
      progress(give());
      return "Done";
    },
  });
  expect(await callTools(started, { name: "wrong", input: {} })).toEqual(["Done"]);
  await waitForMessage("A progress of the tool wrong is dropped: it is a promise, so await it first");
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test.each([
  ["throws", () => Promise.reject(new Error("no resource")), "no resource"],
  ["returns a text", () => "*", "permission.resources of the tool wrong must return an array of strings"],
  ["returns numbers", () => [1], "permission.resources of the tool wrong must return an array of strings"],
])("a tool whose permission.resources %s does not run", async (_, resources, reason) => {
  const started = await setUpSession();
  const execute = jest.fn(() => "");
  started.host.tools.register({ ...TOOL, permission: { resources: resources as never }, execute });
  const [result] = await callTools(started, { name: "wrong", input: {} });
  expect(failure(result)).toContain(reason);
  expect(execute).not.toHaveBeenCalled();
});

const SOURCE: ContextSource<string> = {
  key: "test/wrong",
  load: () => "value",
  baseline: () => "The baseline.",
  removal: () => "It is gone.",
};

describe.each(["load", "baseline", "removal"] as const)("a Context Source whose %s", (member) => {
  test.each(member === "load" ? [...WRONG, LONG] : WRONG)(
    "%s is unavailable, and the turn continues",
    async (_, give) => {
      const { host, model, sessionID } = await setUpSession();
      host.contextSources.register({ ...SOURCE, [member]: give });
      await run(host, sessionID, "One");
      const { body } = await model.received(1);
      expect(JSON.stringify(body)).not.toContain("The baseline.");
    },
  );
});

test.each(WRONG)("an update of a Context Source that %s tells the model nothing", async (_, give) => {
  const { host, model, sessionID } = await setUpSession();
  let value = "first";
  host.contextSources.register({ ...SOURCE, load: () => value, update: give as never });
  await run(host, sessionID, "One");
  value = "second";
  await run(host, sessionID, "Two");
  const [first, second] = [await model.received(1), await model.received(2)];
  const before: unknown[] = first.body.messages;
  expect(second.body.messages.slice(0, before.length)).toEqual(before);
  expect(JSON.stringify(second.body).split("The baseline.")).toHaveLength(2);
});

test("Context Sources are observed at the same time", async () => {
  const { host, model, sessionID } = await setUpSession();
  const begun = [deferred(), deferred()];
  for (const [at, own] of begun.entries()) {
    host.contextSources.register({
      ...SOURCE,
      key: `test/source-${at}`,
      async load() {
        own.resolve();
        await Promise.all(begun.map(({ promise }) => promise));
        return "value";
      },
      baseline: () => `Source ${at}.`,
    });
  }
  await run(host, sessionID, "One");
  const { body } = await model.received(1);
  expect(JSON.stringify(body)).toContain("Source 0.");
  expect(JSON.stringify(body)).toContain("Source 1.");
});

/** Functions that are called inside a turn, by the way in which they are registered. */
const INSIDE: [name: string, register: (host: OpenCodeHost, act: () => unknown) => { dispose(): void }][] = [
  [
    "the load of a Context Source",
    (host, act) =>
      host.contextSources.register({
        ...SOURCE,
        async load() {
          await act();
          return "value";
        },
      }),
  ],
  [
    "onRequest",
    (host, act) =>
      host.hooks.onRequest(async () => {
        await act();
      }),
  ],
  [
    "onToolCall",
    (host, act) =>
      host.hooks.onToolCall(async () => {
        await act();
      }),
  ],
  [
    "onToolResult",
    (host, act) =>
      host.hooks.onToolResult(async () => {
        await act();
      }),
  ],
  [
    "a tool",
    (host, act) =>
      host.tools.register({
        ...TOOL,
        name: "glob",
        async execute() {
          await act();
          return "Done";
        },
      }),
  ],
];

const CALL = { tools: [{ name: "glob", input: { pattern: "*" } }] };

test.each(INSIDE)("%s may prompt its session", async (_, register) => {
  const { host, model, sessionID } = await setUpSession();
  let prompts = 0;
  register(host, async () => {
    prompts += 1;
    if (prompts === 1) await host.sessions.prompt({ sessionID, prompt: "From inside", delivery: "queue" });
  });
  model.reply(CALL, { text: "One." }, { text: "Two." });
  await run(host, sessionID, "Go");
  const { body } = await model.received(3);
  expect(body.messages.at(-1)).toMatchObject({ role: "user", content: "From inside" });
});

test.each(INSIDE)("%s may wait for the end of its host", async (_, register) => {
  const { host, model, sessionID } = await setUpSession();
  const closed = deferred();
  register(host, async () => {
    await host.close();
    closed.resolve();
  });
  model.reply(CALL);
  await host.sessions.prompt({ sessionID, prompt: "Go" });
  await closed.promise;
});

test.each(INSIDE)("%s may end its own registration", async (_, register) => {
  const { host, model, sessionID } = await setUpSession();
  let calls = 0;
  const registered = register(host, () => {
    calls += 1;
    registered.dispose();
  });
  model.reply(CALL, { text: "One." }, CALL, { text: "Two." });
  await run(host, sessionID, "Go");
  await run(host, sessionID, "Again");
  expect(calls).toBe(1);
  await model.received(4);
});

test.each([
  ["the key tools", { tools: { wrong: false } }],
  ["the tools of its agent", { agent: { build: { tools: { wrong: false } } } }],
  ["a rule", { permission: { wrong: "deny" } }],
])("%s excludes a tool of the program like any tool", async (_, config) => {
  const setup = await setUp();
  const host = await setup.open({ config: setup.model.config(config as object) });
  const session = await host.sessions.create();
  const contexts: ToolCallContext[] = [];
  host.tools.register({ ...TOOL, execute: (_input, context) => void contexts.push(context) });
  const started = { setup, host, model: setup.model, session, sessionID: session.id };
  const [result] = await callTools(started, { name: "wrong", input: {} });
  expect(failure(result)).toMatch(/^Unknown tool: wrong/);
  const { body } = await setup.model.received(1);
  expect(JSON.stringify(body.tools)).not.toContain(TOOL.description);
  expect(contexts).toEqual([]);
});
