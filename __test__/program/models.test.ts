// Models of the program: answers, failures, scopes and their end.

import { mkdirSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type {
  LanguageModelRequest,
  ModelEvent,
  ModelProvider,
  ModelStream,
  OpenCodeHost,
  OpenCodeOptions,
} from "../../index.js";
import { recorder } from "../embedded/log-support";
import { deferred, readMessages, readUntil, run, setUp, subscribe } from "./support";

type Answer = (request: LanguageModelRequest, signal: AbortSignal) => ModelStream | Promise<ModelStream>;

const FINISH: ModelEvent = { type: "finish", reason: "stop" };
const say = (text: string): ModelEvent[] => [{ type: "text-delta", text }, FINISH];

/** A provider that gives these answers one after the other, the last one again and again. */
function provider(...answers: Answer[]) {
  const requests: LanguageModelRequest[] = [];
  const given: ModelProvider = {
    id: "mine",
    models: { m: { limit: { context: 100_000, output: 1_000 } } },
    stream(request, { signal }) {
      requests.push(request);
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      if (answer === undefined) throw new Error("There is no answer");
      return answer(request, signal);
    },
  };
  return { given, requests };
}

async function setUpProgram(options: OpenCodeOptions = {}) {
  const setup = await setUp();
  const host = await setup.open({ ...options, config: { model: "mine/m" } });
  const { id: sessionID } = await host.sessions.create();
  return { setup, host, sessionID };
}

/** The texts and the end of the last answer of a session. */
async function lastAnswer(host: OpenCodeHost, sessionID: string) {
  const last = (await readMessages(host, sessionID)).at(-1);
  if (last?.type !== "assistant") throw new Error(`The last message is ${last?.type}`);
  const text = last.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return { text, finish: last.finish, error: last.error, tokens: last.tokens };
}

test("a model of the program answers with tools, usage and text", async () => {
  const { setup, host, sessionID } = await setUpProgram();
  setup.write("notes.txt", "forty-two");
  const { given, requests } = provider(
    () => [
      { type: "reasoning-delta", text: "I read." },
      { type: "tool-input-start", id: "c1", name: "read" },
      { type: "tool-input-delta", id: "c1", text: '{"path":' },
      { type: "tool-input-delta", id: "c1", text: '"notes.txt"}' },
      { type: "tool-input-end", id: "c1" },
      { type: "tool-call", id: "c1", inputText: '{"path":"notes.txt"}' },
      { type: "finish", reason: "tool-calls", usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 } },
    ],
    async function* () {
      yield* say("It says forty-two.");
    },
  );
  host.providers.register(given);
  await run(host, sessionID, "Read the notes");

  expect(requests).toHaveLength(2);
  expect(requests[0]).toMatchObject({ model: "m", generation: {}, options: {}, cacheKey: sessionID });
  expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  expect(requests[0]?.tools?.find(({ name }) => name === "read")).toMatchObject({ inputSchema: { type: "object" } });
  const [, , assistant, tool] = requests[1]?.messages ?? [];
  expect(assistant).toEqual({
    role: "assistant",
    content: [
      { type: "reasoning", text: "I read." },
      { type: "tool-call", id: "c1", name: "read", input: { path: "notes.txt" }, providerExecuted: false },
    ],
  });
  expect(tool).toMatchObject({ role: "tool", content: [{ type: "tool-result", id: "c1", name: "read" }] });
  expect(JSON.stringify(tool)).toContain("forty-two");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ text: "It says forty-two.", finish: "stop" });
  const tokens = (await readMessages(host, sessionID)).map((message) => "tokens" in message && message.tokens);
  expect(tokens[1]).toMatchObject({ input: 6, output: 5, cache: { read: 4, write: 0 } });
});

test("data of the provider returns with its parts, and only to the same model", async () => {
  const { host, sessionID } = await setUpProgram();
  const signed = { mine: { signature: "s" } };
  const { given, requests } = provider(
    () => [
      { type: "reasoning-start", id: "r", providerMetadata: { mine: { id: "r1" } } },
      { type: "reasoning-delta", id: "r", text: "Hm.", providerMetadata: signed },
      { type: "reasoning-end", id: "r" },
      ...say("Hello."),
    ],
    () => say("Again."),
  );
  host.providers.register({ ...given, models: { ...given.models, other: {} } });
  await run(host, sessionID, "One");
  await run(host, sessionID, "Two");
  await host.sessions.switchModel({ sessionID, model: { providerID: "mine", id: "other" } });
  await run(host, sessionID, "Three");
  const reasoning = requests.map(({ messages }) => JSON.stringify(messages).match(/"signature":"s"/g)?.length ?? 0);
  expect(reasoning).toEqual([0, 1, 0]);
  expect(requests[1]?.messages[2]).toMatchObject({
    content: [
      { type: "reasoning", text: "Hm.", providerMetadata: { mine: { id: "r1", signature: "s" } } },
      { type: "text", text: "Hello." },
    ],
  });
});

const throwing = () => {
  throw new Error("out of order");
};

const WRONG: [string, Answer, RegExp][] = [
  ["throws", throwing, /mine\/program failed: out of order/],
  ["throws a value", () => Promise.reject({ odd: true }), /mine\/program failed/],
  ["returns nothing", () => undefined as never, /stream must return an AsyncIterable of events, got undefined/],
  ["returns a number", () => 7 as never, /stream must return an AsyncIterable of events, got 7/],
  [
    "throws in its stream",
    async function* () {
      yield { type: "text-delta", text: "Hel" };
      throw new Error("lost");
    },
    /mine\/program broke its answer off: lost/,
  ],
  ["ends without a finish", () => [{ type: "text-delta", text: "Hel" }], /stream ended before a finish event/],
  ["sends an event of an unknown type", () => [{ type: "text" } as never], /unknown type "text"/],
  ["sends a wrong member", () => [{ type: "text-delta", txt: "a" } as never], /unknown field `txt`/],
  ["sends a text as event", () => ["Hello" as never], /An event must be an object, got "Hello"/],
  ["sends a bigint", () => [{ type: "tool-call", id: "a", name: "b", input: 1n } as never], /BigInt/],
  ["ends a block that is not open", () => [{ type: "text-end", id: "a" }, FINISH], /text block "a" is not open/],
  ["answers a call that it did not make", () => [{ type: "tool-input-end", id: "a" }, FINISH], /unknown call/],
];

test.each(WRONG)("a model that %s fails its turn only", async (_, answer, message) => {
  const { host, sessionID } = await setUpProgram();
  const { given } = provider(answer, () => say("Better."));
  host.providers.register(given);
  await run(host, sessionID, "One");
  const failed = await lastAnswer(host, sessionID);
  expect(failed.error?.message).toMatch(message);
  await run(host, sessionID, "Two");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ text: "Better.", finish: "stop" });
});

const REPORTED: [string, ModelEvent, string][] = [
  ["a kind", { type: "error", kind: "auth", message: "no key" }, "auth"],
  ["a code", { type: "error", code: "insufficient_quota", message: "pay" }, "quota"],
  ["a message", { type: "error", message: "blocked by content policy" }, "content-policy"],
  ["a response", { type: "error", response: { status: 401, body: "no key" } }, "auth"],
];

test.each(REPORTED)("an error with %s is classified", async (_, event, kind) => {
  const { host, sessionID } = await setUpProgram();
  host.providers.register(provider(() => [event]).given);
  await run(host, sessionID, "One");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ error: { cause: { kind } } });
});

test.each<[string, ModelEvent]>([
  ["an event", { type: "error", kind: "overloaded", message: "busy" }],
  ["a response", { type: "error", response: { status: 429, headers: { "retry-after-ms": "1" } } }],
])("a request that %s refuses for now is sent again", async (_, event) => {
  const { host, sessionID } = await setUpProgram({ retry: { maxDelayMs: 1 } });
  const { given, requests } = provider(
    () => [event],
    () => say("Now."),
  );
  host.providers.register(given);
  await run(host, sessionID, "One");
  expect(requests).toHaveLength(2);
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ text: "Now.", finish: "stop" });
});

test("a model writes warnings to the log", async () => {
  const { log, find } = recorder();
  const { host, sessionID } = await setUpProgram({ log });
  host.providers.register({
    id: "mine",
    models: { m: {} },
    stream(_request, { warn }) {
      warn("topK is ignored");
      return say("Hi.");
    },
  });
  await run(host, sessionID, "One");
  await expect(find(({ message }) => message.includes("topK"))).resolves.toMatchObject({
    level: "warn",
    message: "mine/m: topK is ignored",
  });
});

test("an interruption ends an endless answer and keeps its text", async () => {
  const { host, sessionID } = await setUpProgram();
  const ended = deferred();
  const { given } = provider(async function* (_request, signal) {
    try {
      for (;;) {
        yield { type: "text-delta", text: "on and " };
        await setImmediate();
      }
    } finally {
      expect(signal.aborted).toBe(true);
      ended.resolve();
    }
  });
  host.providers.register(given);
  const events = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "One" } });
  await readUntil(events, "session.next.text.delta");
  await readUntil(events, "session.next.text.delta");
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  await ended.promise;
  expect((await lastAnswer(host, sessionID)).text).toMatch(/^on and on and/);
});

test("an interruption ends a silent answer that ignores the signal", async () => {
  const { host, sessionID } = await setUpProgram();
  const asked = deferred();
  const { given } = provider(
    async function* () {
      asked.resolve();
      await new Promise(() => {});
      yield FINISH;
    },
    () => say("Later."),
  );
  host.providers.register(given);
  await host.sessions.prompt({ sessionID, prompt: { text: "One" } });
  await asked.promise;
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  await run(host, sessionID, "Two");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ text: "Later." });
});

test("a time limit ends a silent answer", async () => {
  const { host, sessionID } = await setUpProgram({ retry: false });
  const { given } = provider(async function* (_request, signal) {
    yield { type: "text-delta", text: "Hel" };
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  const request = { body: { chunkTimeout: 20 } };
  host.providers.register({ ...given, models: { m: { request } } });
  await run(host, sessionID, "One");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({
    text: "Hel",
    error: { message: "mine/program did not answer in time", cause: { kind: "timeout" } },
  });
});

test("a fast model waits for the host", async () => {
  const { host, sessionID } = await setUpProgram();
  const deltas = 50_000;
  const { given } = provider(function* () {
    for (let at = 0; at < deltas; at += 1) yield { type: "text-delta", text: "ab " } as const;
    yield FINISH;
  });
  host.providers.register(given);
  await run(host, sessionID, "One");
  expect((await lastAnswer(host, sessionID)).text).toBe("ab ".repeat(deltas));
});

test("a registration counts at once and until it is removed", async () => {
  const { host, sessionID } = await setUpProgram();
  const ids = async () => (await host.models.list()).data.map(({ providerID, id }) => `${providerID}/${id}`);
  expect(await ids()).not.toContain("mine/m");
  const events = await subscribe(host);
  const first = host.providers.register(provider(() => say("First.")).given);
  await readUntil(events, "catalog.updated");
  expect(await ids()).toContain("mine/m");
  await expect(host.providers.get({ providerID: "mine" })).resolves.toMatchObject({ data: { id: "mine" } });
  const second = host.providers.register(provider(() => say("Second.")).given);
  await run(host, sessionID, "One");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ text: "Second." });
  second.dispose();
  await run(host, sessionID, "Two");
  await expect(lastAnswer(host, sessionID)).resolves.toMatchObject({ text: "First." });
  first.dispose();
  first.dispose();
  expect(await ids()).not.toContain("mine/m");
});

test("a registration for one Location counts only there", async () => {
  const { setup, host } = await setUpProgram();
  const here = path.join(setup.directory, "here");
  const there = path.join(setup.directory, "there");
  for (const directory of [here, there]) mkdirSync(directory);
  host.providers.register(provider(() => say("Hi.")).given, { location: { directory: here } });
  const count = async (directory: string) => {
    const { data } = await host.models.list({ location: { directory } });
    return data.filter(({ providerID }) => providerID === "mine").length;
  };
  expect([await count(here), await count(there)]).toEqual([1, 0]);
});

test("only the program answers for its provider, whatever a document says", async () => {
  const setup = await setUp();
  const elsewhere = setup.model.config({});
  const host = await setup.open({ config: elsewhere });
  const { given, requests } = provider(() => say("From the program."));
  host.providers.register({ ...given, id: "mock", models: { m1: {} } });
  const { id: sessionID } = await host.sessions.create({ model: { providerID: "mock", id: "m1" } });
  await run(host, sessionID, "One");
  expect(requests).toHaveLength(1);
  expect(setup.model.requests).toHaveLength(0);
});

test.each<[string, object, string]>([
  ["without a model", { models: {} }, "models"],
  ["with a wrong model", { models: { m: { limit: { context: "many" } } } }, "models.m.limit.context"],
  ["with an unknown member", { modells: {} }, "modells"],
  ["with a slash in its id", { id: "a/b" }, "id"],
  ["without a stream", { stream: undefined }, "stream"],
  ["with a list of models", { models: ["m"] }, "models"],
])("a provider %s is refused", async (_, change, option) => {
  const { host } = await setUpProgram();
  const wrong = { ...provider(() => []).given, ...change };
  expect(() => host.providers.register(wrong)).toThrow(expect.objectContaining({ option, _tag: "InvalidOptionError" }));
});
