// The real packages of the AI SDK as models of sessions: the same conversation as the protocols of the host.

import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { fromAISDK } from "../../dist/ai-sdk/index";
import type { OpenCodeHost, SessionMessageAssistant } from "../../index.js";
import { readMessages, run, setUp, subscribe, readUntil } from "../embedded/support";
import type { Setup } from "../embedded/support";

// The compiler refuses the declarations of this package.
const { createGoogleGenerativeAI } = require("@ai-sdk/google") as { createGoogleGenerativeAI: (it: Settings) => Model };

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const execute = promisify(execFile);

type Settings = { baseURL: string; apiKey: string };
type Model = (id: string) => LanguageModelV3;
type Create = (settings: Settings) => LanguageModelV3;

const PACKAGES: [string, string, Create][] = [
  ["@ai-sdk/openai-compatible", "mock", (settings) => createOpenAICompatible({ ...settings, name: "mock" })("m1")],
  ["@ai-sdk/openai", "openai", (settings) => createOpenAI(settings)("m1")],
  ["@ai-sdk/openai (chat)", "openai", (settings) => createOpenAI(settings).chat("m1")],
  ["@ai-sdk/anthropic", "anthropic", (settings) => createAnthropic(settings)("m1")],
  ["@ai-sdk/google", "google", (settings) => createGoogleGenerativeAI(settings)("m1")],
];

/** A session whose model is a package of the AI SDK that calls the scripted model. */
async function setUpPackage(create: Create) {
  const setup = await setUp();
  // The host's own protocols send less.
  setup.sendsOddBodies = true;
  const provider = fromAISDK(create({ baseURL: setup.model.url, apiKey: "secret" }), {
    models: { m1: { capabilities: { tools: true, input: ["text", "image", "pdf"] }, limit: { context: 200_000 } } },
  });
  const host = await setup.open({ config: {}, retry: { maxDelayMs: 1 } });
  host.providers.register(provider);
  const { id: sessionID } = await host.sessions.create({ model: { providerID: provider.id, id: "m1" } });
  return { setup, host, provider, sessionID, model: setup.model };
}

async function answers(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  return messages.flatMap((message) => (message.type === "assistant" ? [message] : []));
}

/** Removes findings about details that the documents of OpenAI require, and its server and its own package do not. */
function tolerateOpenAI({ model }: Setup) {
  const isKnown = /has an image without a detail|is an answer in parts without an id/;
  model.violations = model.violations.filter((finding) => !isKnown.test(finding));
}

function say(setup: Setup) {
  setup.write("a.txt", "alpha\n");
  const read = (file: string, id: string) => ({ name: "read", input: { path: file }, id });
  setup.model.reply(
    { reasoning: "I should read.", text: "Reading.", tools: [read("a.txt", "call_1"), read("none.txt", "call_2")] },
    { deltas: ["Al", "pha."], usage: { input: 100, output: 20, cached: 60, reasoning: 5 } },
    { text: "Twice." },
  );
}

test.each(PACKAGES)("%s: a conversation with tools, reasoning and usage", async (name, providerID, create) => {
  const { setup, host, provider, sessionID, model } = await setUpPackage(create);
  expect(provider.id).toBe(providerID);
  say(setup);
  await run(host, sessionID, "Read it");
  await run(host, sessionID, "Again");
  const [first, second, third] = await answers(host, sessionID);
  expect([first?.finish, second?.finish, third?.finish]).toEqual(["tool-calls", "stop", "stop"]);
  const texts = [first, second, third].map((answer) =>
    answer?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
  );
  expect(texts).toEqual(["Reading.", "Alpha.", "Twice."]);
  const tools = first?.content.flatMap((part) => (part.type === "tool" ? [part.state.status] : []));
  expect(tools).toEqual(["completed", "error"]);
  if (name !== "@ai-sdk/openai (chat)") {
    expect(first?.content[0]).toMatchObject({ type: "reasoning", text: "I should read." });
  }
  const counts = second?.tokens;
  expect(counts).toMatchObject({ cache: { read: 60 }, output: expect.any(Number) });
  expect((counts?.input ?? 0) + (counts?.cache.read ?? 0) + (counts?.cache.write ?? 0)).toBe(100);
  expect(model.requests).toHaveLength(3);
  const sent = model.requests[1]?.text ?? "";
  expect(sent).toContain("alpha");
  expect(sent).toContain("none.txt");
});

test.each(PACKAGES)("%s: reads files of prompts and of tools", async (_, _id, create) => {
  const { setup, host, sessionID, model } = await setUpPackage(create);
  setup.write("dot.png", Buffer.from(PNG, "base64"));
  model.reply({ tools: [{ name: "read", input: { path: "dot.png" }, id: "call_1" }] }, { text: "A dot." });
  await host.sessions.prompt({
    sessionID,
    prompt: { text: "Look", files: [{ uri: `data:image/png;base64,${PNG}`, name: "p.png" }] },
  });
  await host.sessions.wait({ sessionID });
  expect(model.requests[0]?.text.split(PNG)).toHaveLength(2);
  expect(model.requests[1]?.text.length).toBeGreaterThan(model.requests[0]?.text.length ?? 0);
  expect((await answers(host, sessionID)).at(-1)?.finish).toBe("stop");
  tolerateOpenAI(setup);
});

test.each(PACKAGES)("%s: an interruption closes the connection", async (_, _id, create) => {
  const { host, sessionID, model } = await setUpPackage(create);
  model.reply({ deltas: ["one ", "two "], gate: "middle" });
  const events = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Count" } });
  await readUntil(events, "session.next.text.delta");
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  const [request] = model.requests;
  await request?.closed;
  expect(request?.aborted).toBe(true);
});

const REFUSALS: [number, object, string][] = [
  [401, { error: { message: "no key", type: "authentication_error" } }, "auth"],
  [400, { error: { message: "prompt is too long: 9 tokens", type: "invalid_request_error" } }, "context-overflow"],
  [402, { error: { message: "pay", type: "billing" } }, "quota"],
];

describe.each(PACKAGES)("%s", (_, _id, create) => {
  test.each(REFUSALS)("classifies status %i", async (status, body, kind) => {
    const { host, sessionID, model } = await setUpPackage(create);
    model.reply({ status, body });
    await run(host, sessionID, "One");
    const [answer] = await answers(host, sessionID);
    expect(answer?.error).toMatchObject({ cause: { kind } });
  });

  test("waits for a provider that is overloaded", async () => {
    const { host, sessionID, model } = await setUpPackage(create);
    model.reply({ status: 503, headers: { "retry-after": "0" } }, { text: "Now." });
    await run(host, sessionID, "One");
    expect(model.requests).toHaveLength(2);
    expect((await answers(host, sessionID)).at(-1)?.finish).toBe("stop");
  });

  test("an answer that is cut fails its turn only", async () => {
    const { setup, host, sessionID, model } = await setUpPackage(create);
    model.reply({ deltas: ["one ", "two "], cut: true }, { text: "Whole." });
    await run(host, sessionID, "One");
    await run(host, sessionID, "Two");
    const [first, second] = await answers(host, sessionID);
    expect(first?.error?.message).toEqual(expect.any(String));
    expect(second?.finish).toBe("stop");
    tolerateOpenAI(setup);
  });
});

test.each([
  ["v2", "@ai-sdk/openai-v2"],
  ["v3", "@ai-sdk/openai"],
  ["v4", "@ai-sdk/openai-v4"],
])("a package with models of %s has the same conversation", async (version, name) => {
  const setup = await setUp();
  setup.sendsOddBodies = true;
  say(setup);
  const program = path.join(__dirname, "version.mjs");
  const { stdout } = await execute(process.execPath, [program, name, setup.model.url, setup.directory]);
  const printed = JSON.parse(stdout);
  expect(printed.version).toBe(version);
  const [first, second, third]: SessionMessageAssistant[] = printed.answers;
  expect([first?.finish, second?.finish, third?.finish]).toEqual(["tool-calls", "stop", "stop"]);
  expect(first?.content).toMatchObject([
    { type: "reasoning", text: "I should read." },
    { type: "text", text: "Reading." },
    { type: "tool", name: "read", state: { status: "completed" } },
    { type: "tool", name: "read", state: { status: "error" } },
  ]);
  expect(second?.content).toMatchObject([{ type: "text", text: "Alpha." }]);
  expect(second?.tokens).toEqual({ input: 40, output: 15, reasoning: 5, cache: { read: 60, write: 0 } });
});

test("Anthropic gets signed thoughts back, and marks of cacheable prefixes", async () => {
  const { setup, host, sessionID, model } = await setUpPackage((settings) => createAnthropic(settings)("m1"));
  say(setup);
  await run(host, sessionID, "Read it");
  const body = model.requests[1]?.body;
  expect(body.messages[1].content[0]).toEqual({ type: "thinking", thinking: "I should read.", signature: "c2lnbmVk" });
  const mark = { cache_control: { type: "ephemeral" } };
  expect(body.system.at(-1)).toMatchObject(mark);
  expect(body.messages.at(-1).content.at(-1)).toMatchObject(mark);
  expect(body.messages[0].content.at(-1)).toMatchObject(mark);
});

test("Google gets the signatures of its calls back", async () => {
  const { setup, host, sessionID, model } = await setUpPackage((settings) => createGoogleGenerativeAI(settings)("m1"));
  say(setup);
  await run(host, sessionID, "Read it");
  const parts = model.requests[1]?.body.contents[1].parts;
  expect(parts.filter((part: object) => "functionCall" in part)).toMatchObject([
    { thoughtSignature: "c2lnbmVk" },
    { thoughtSignature: "c2lnbmVk" },
  ]);
});

test("OpenAI gets the key of the conversation, and options under its namespace", async () => {
  const setup = await setUp();
  setup.sendsOddBodies = true;
  const openai = createOpenAI({ baseURL: setup.model.url, apiKey: "secret" });
  const variants = [{ id: "low", body: { reasoningEffort: "low" } }];
  const request = { body: { store: false, temperature: 0.5 } };
  const host = await setup.open({ config: {} });
  host.providers.register(fromAISDK(openai, { id: "mine", models: { "gpt-5": { variants, request } } }));
  const { id: sessionID } = await host.sessions.create({ model: { providerID: "mine", id: "gpt-5", variant: "low" } });
  await run(host, sessionID, "Hello");
  expect(setup.model.requests[0]?.body).toMatchObject({
    model: "gpt-5",
    prompt_cache_key: sessionID,
    store: false,
    reasoning: { effort: "low" },
  });
});
