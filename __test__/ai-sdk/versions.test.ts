// Models of the AI SDK in its three versions: the options of their calls, and the parts of their streams.

import type { LanguageModelV3 } from "@ai-sdk/provider";
import { fromAISDK } from "../../dist/ai-sdk/index";
import type { AISDKLanguageModel } from "../../dist/ai-sdk/index";
import type { LanguageModelRequest, ModelContext, ModelEvent, ModelFinishReason } from "../../index.js";

// The compiler refuses the declarations of this package.
const { MockLanguageModelV3, simulateReadableStream } = require("ai/test") as {
  MockLanguageModelV3: new (members: Pick<LanguageModelV3, "doStream">) => LanguageModelV3;
  simulateReadableStream: (options: { chunks: object[] }) => ReadableStream<unknown>;
};

type Version = AISDKLanguageModel["specificationVersion"];

const REQUEST: LanguageModelRequest = {
  model: "m1",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "file", mediaType: "image/png", data: "AAAA", filename: "a.png" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerMetadata: { anthropic: { signature: "s" } } },
        { type: "tool-call", id: "c1", name: "read", input: { path: "a" }, providerExecuted: false },
        { type: "tool-call", id: "c2", name: "search", input: {}, providerExecuted: true },
        {
          type: "tool-result",
          id: "c2",
          name: "search",
          result: { type: "json", value: [1] },
          providerExecuted: true,
          providerMetadata: { anthropic: { x: 1 } },
        },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          id: "c1",
          name: "read",
          providerExecuted: false,
          result: {
            type: "content",
            value: [
              { type: "text", text: "here" },
              { type: "file", mediaType: "image/png", data: "BBBB" },
              { type: "file", mediaType: "application/pdf", data: "CCCC", filename: "b.pdf" },
            ],
          },
        },
      ],
    },
  ],
  tools: [{ name: "read", description: "Reads", inputSchema: { type: "object" } }],
  toolChoice: { type: "tool", name: "read" },
  generation: { maxTokens: 9, temperature: 0.5, stop: ["end"] },
  options: { effort: "low", reasoning: "high" },
  headers: { "x-one": "1" },
  cacheKey: "ses_1",
};

/** A model that gives these parts, and the options of its calls. */
function model(version: Version, parts: readonly object[], provider = "mock.chat") {
  const calls: any[] = [];
  const given = {
    specificationVersion: version,
    provider,
    modelId: "m1",
    supportedUrls: {},
    doStream: async (options: never) => {
      calls.push(options);
      return { stream: simulateReadableStream({ chunks: [...parts] }) };
    },
  };
  return { given, calls };
}

const { signal } = new AbortController();
const CONTEXT: ModelContext = { signal, warn: () => {} };

async function read(given: AISDKLanguageModel, request = REQUEST): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const stream = (await fromAISDK(given).stream(request, CONTEXT)) as AsyncIterable<ModelEvent>;
  for await (const event of stream) events.push(event);
  return events;
}

const DATA: Record<Version, unknown> = { v2: "AAAA", v3: "AAAA", v4: { type: "data", data: "AAAA" } };

const PIECES: Record<Version, object[]> = {
  v2: [
    { type: "media", mediaType: "image/png", data: "BBBB" },
    { type: "media", mediaType: "application/pdf", data: "CCCC" },
  ],
  v3: [
    { type: "image-data", mediaType: "image/png", data: "BBBB" },
    { type: "file-data", mediaType: "application/pdf", data: "CCCC", filename: "b.pdf" },
  ],
  v4: [
    { type: "file", mediaType: "image/png", data: { type: "data", data: "BBBB" } },
    { type: "file", mediaType: "application/pdf", data: { type: "data", data: "CCCC" }, filename: "b.pdf" },
  ],
};

test.each(["v2", "v3", "v4"] as const)("%s: a request becomes the options of a call", async (version) => {
  const { given, calls } = model(version, []);
  await read(given);
  const [{ prompt, abortSignal, ...options }] = calls;
  expect(abortSignal).toBeInstanceOf(AbortSignal);
  expect(options).toEqual({
    maxOutputTokens: 9,
    temperature: 0.5,
    stopSequences: ["end"],
    tools: [{ type: "function", name: "read", description: "Reads", inputSchema: { type: "object" } }],
    toolChoice: { type: "tool", toolName: "read" },
    headers: { "x-one": "1" },
    providerOptions: { mock: version === "v4" ? { effort: "low" } : { effort: "low", reasoning: "high" } },
    ...(version === "v4" ? { reasoning: "high" } : {}),
    includeRawChunks: false,
  });
  expect(prompt).toEqual([
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "file", mediaType: "image/png", data: DATA[version], filename: "a.png" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "s" } } },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: { path: "a" }, providerExecuted: false },
        { type: "tool-call", toolCallId: "c2", toolName: "search", input: {}, providerExecuted: true },
        {
          type: "tool-result",
          toolCallId: "c2",
          toolName: "search",
          output: { type: "json", value: [1] },
          providerOptions: { anthropic: { x: 1 } },
        },
      ],
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "read",
          output: { type: "content", value: [{ type: "text", text: "here" }, ...PIECES[version]] },
        },
      ],
    },
  ]);
});

test("prompts for Anthropic and Bedrock are marked at the ends of cacheable prefixes", async () => {
  for (const [provider, mark] of [
    ["anthropic.messages", { anthropic: { cacheControl: { type: "ephemeral" } } }],
    ["amazon-bedrock", { bedrock: { cachePoint: { type: "default" } } }],
    ["google.generative-ai", undefined],
  ] as const) {
    const { given, calls } = model("v3", [], provider);
    await read(given);
    const marks = calls[0].prompt.map(({ providerOptions }: { providerOptions?: object }) => providerOptions);
    expect(marks).toEqual([mark, mark, undefined, mark]);
    await read(given, { ...REQUEST, options: { cache: false } });
    expect(calls[1].prompt.some((message: object) => "providerOptions" in message)).toBe(false);
    expect(Object.values(calls[1].providerOptions)).toEqual([{}]);
  }
});

test("parts become events", async () => {
  const metadata = { mock: { a: 1 } };
  const { given } = model("v3", [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "r", modelId: "m1" },
    { type: "reasoning-start", id: "1", providerMetadata: metadata },
    { type: "reasoning-delta", id: "1", delta: "Hm." },
    { type: "reasoning-end", id: "1" },
    { type: "text-start", id: "2" },
    { type: "text-delta", id: "2", delta: "Hi" },
    { type: "text-end", id: "2", providerMetadata: metadata },
    { type: "source", sourceType: "url", id: "s", url: "http://x.test" },
    { type: "source", sourceType: "document", id: "t", mediaType: "text/plain", title: "T", filename: "t.txt" },
    { type: "source", sourceType: "other", id: "u" },
    { type: "tool-input-start", id: "c1", toolName: "read" },
    { type: "tool-input-delta", id: "c1", delta: "{}" },
    { type: "tool-call", toolCallId: "c1", toolName: "read", input: "{}", providerMetadata: metadata },
    { type: "tool-call", toolCallId: "c2", toolName: "search", input: '{"q":1}', providerExecuted: true },
    { type: "tool-result", toolCallId: "c2", toolName: "search", result: [0], preliminary: true },
    { type: "tool-result", toolCallId: "c2", toolName: "search", result: [1] },
    { type: "raw", rawValue: {} },
    {
      type: "finish",
      finishReason: { unified: "tool-calls", raw: "tool_use" },
      usage: {
        inputTokens: { total: 10, noCache: 4, cacheRead: 5, cacheWrite: 1 },
        outputTokens: { total: 7, text: 4, reasoning: 3 },
      },
    },
  ]);
  expect(JSON.parse(JSON.stringify(await read(given)))).toEqual([
    { type: "reasoning-start", id: "1", providerMetadata: metadata },
    { type: "reasoning-delta", id: "1", text: "Hm." },
    { type: "reasoning-end", id: "1" },
    { type: "text-start", id: "2" },
    { type: "text-delta", id: "2", text: "Hi" },
    { type: "text-end", id: "2", providerMetadata: metadata },
    { type: "source", source: { type: "url", url: "http://x.test" } },
    { type: "source", source: { type: "document", title: "T", filename: "t.txt", mediaType: "text/plain" } },
    { type: "tool-input-start", id: "c1", name: "read" },
    { type: "tool-input-delta", id: "c1", text: "{}" },
    { type: "tool-input-end", id: "c1" },
    {
      type: "tool-call",
      id: "c1",
      name: "read",
      inputText: "{}",
      providerExecuted: false,
      providerMetadata: metadata,
    },
    { type: "tool-call", id: "c2", name: "search", inputText: '{"q":1}', providerExecuted: true },
    { type: "tool-result", id: "c2", result: { type: "json", value: [1] } },
    {
      type: "finish",
      reason: "tool-calls",
      usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 5, cacheWriteTokens: 1, reasoningTokens: 3 },
    },
  ]);
});

test("the citations of a text of version 4 are sources", async () => {
  const source = { type: "source", sourceType: "url", id: "s", url: "http://x.test", title: "X" };
  const citations = [{ source, startIndex: 0, endIndex: 2 }, {}];
  const { given } = model("v4", [{ type: "text-end", id: "2", citations }]);
  expect(await read(given)).toEqual([
    { type: "text-end", id: "2" },
    { type: "source", source: { type: "url", url: "http://x.test", title: "X" } },
  ]);
});

test.each<[string, Version, unknown, object | undefined]>([
  ["base64", "v2", "AQID", { data: "AQID" }],
  ["bytes", "v3", new Uint8Array([1, 2, 3]), { data: "AQID" }],
  ["base64 in an object", "v4", { type: "data", data: "AQID" }, { data: "AQID" }],
  ["bytes in an object", "v4", { type: "data", data: new Uint8Array([1, 2, 3]) }, { data: "AQID" }],
  ["an address", "v4", { type: "url", url: new URL("https://x.test/a.png") }, { url: "https://x.test/a.png" }],
  ["nothing", "v4", {}, undefined],
])("a file of the model: %s of %s", async (_name, version, data, content) => {
  const metadata = { mock: { a: 1 } };
  const { given } = model(version, [{ type: "file", mediaType: "image/png", data, providerMetadata: metadata }]);
  const events = await read(given);
  const file = { type: "file", mediaType: "image/png", ...content, providerMetadata: metadata };
  expect(events).toEqual(content === undefined ? [] : [file]);
});

const FLAT = { inputTokens: 10, outputTokens: 7, totalTokens: 17, reasoningTokens: 3, cachedInputTokens: 5 };

test.each<[string, Version, object, object]>([
  ["flat counts", "v2", { usage: FLAT }, { inputTokens: 10, cacheReadTokens: 5, reasoningTokens: 3, totalTokens: 17 }],
  [
    "flat counts of Anthropic",
    "v2",
    {
      usage: FLAT,
      providerMetadata: { anthropic: { usage: { cache_read_input_tokens: 5, cache_creation_input_tokens: 2 } } },
    },
    { inputTokens: 17, cacheReadTokens: 5, cacheWriteTokens: 2 },
  ],
  [
    "counts without a total",
    "v4",
    { usage: { inputTokens: { noCache: 4, cacheRead: 5 }, outputTokens: { text: 2 } } },
    { inputTokens: 9, outputTokens: 2, cacheReadTokens: 5 },
  ],
  ["no counts", "v3", { usage: { inputTokens: {}, outputTokens: {} } }, {}],
  ["no usage", "v3", {}, {}],
])("reads %s", async (_, version, finish, usage) => {
  const { given } = model(version, [{ type: "finish", finishReason: "stop", ...finish }]);
  const [event] = JSON.parse(JSON.stringify(await read(given)));
  expect(event.usage).toMatchObject(usage);
  expect(Object.values(event.usage).every((count) => typeof count === "number")).toBe(true);
});

test.each<[unknown, ModelFinishReason]>([
  ["stop", "stop"],
  ["length", "length"],
  ["other", "other"],
  ["unknown", "unknown"],
  [{ unified: "content-filter", raw: undefined }, "content-filter"],
  [{ unified: "other", raw: "eos" }, "eos"],
  [{ unified: "other", raw: undefined }, "unknown"],
  [{ unified: "error", raw: undefined }, "error"],
  [{ unified: "error", raw: "MALFORMED_FUNCTION_CALL" }, "error: MALFORMED_FUNCTION_CALL"],
  [{ unified: "interrupted", raw: "x" }, "interrupted: x"],
  [undefined, "unknown"],
])("the finish reason %j is %s", async (finishReason, reason) => {
  const { given } = model("v4", [{ type: "finish", finishReason, usage: {} }]);
  expect(await read(given)).toMatchObject([{ type: "finish", reason }]);
});

test.each<[unknown, object]>([
  ["busy", { message: "busy" }],
  [new Error("lost"), { message: "lost" }],
  [
    { type: "error", error: { type: "overloaded_error", message: "busy" } },
    { code: "overloaded_error", message: "busy" },
  ],
  [{ code: 429 }, { code: "429" }],
  [null, { message: "null" }],
])("a reported error %j ends the answer", async (error, event) => {
  const { given } = model("v3", [{ type: "error", error }]);
  expect(await read(given)).toEqual([{ type: "error", message: expect.any(String), ...event }]);
});

test.each<[object, object]>([
  [
    {
      name: "AI_APICallError",
      statusCode: 429,
      responseHeaders: { a: "b", c: undefined },
      responseBody: "slow",
      url: "u",
    },
    { response: { status: 429, headers: { a: "b" }, body: "slow", url: "u" } },
  ],
  [{ name: "AI_APICallError" }, { kind: "transport" }],
  [{ name: "AI_LoadAPIKeyError" }, { kind: "auth" }],
])("a thrown %j is classified", async (members, event) => {
  const given = new MockLanguageModelV3({
    doStream: () => Promise.reject(Object.assign(new Error("no"), members)),
  });
  expect(await read(given)).toEqual([{ type: "error", message: "no", ...event }]);
});

test("other errors are thrown", async () => {
  const given = new MockLanguageModelV3({ doStream: () => Promise.reject(new Error("odd")) });
  await expect(read(given)).rejects.toThrow("odd");
});

test("a consumer that stops cancels the stream", async () => {
  const cancelled = jest.fn();
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue({ type: "text-delta", id: "1", delta: "on " }),
    cancel: cancelled,
  });
  const given = new MockLanguageModelV3({ doStream: async () => ({ stream: stream as never }) });
  for await (const event of (await fromAISDK(given).stream(REQUEST, CONTEXT)) as AsyncIterable<ModelEvent>) {
    expect(event.type).toBe("text-delta");
    break;
  }
  expect(cancelled).toHaveBeenCalledTimes(1);
});

test("a model and a provider have defaults and their own settings", () => {
  const { given } = model("v3", [], "google.generative-ai");
  expect(fromAISDK(given)).toMatchObject({ id: "google", models: { m1: {} } });
  const named = fromAISDK(given, { id: "mine", name: "Mine", models: { m1: { family: "f" } } });
  expect(named).toMatchObject({ id: "mine", name: "Mine", models: { m1: { family: "f" } } });
  const provider = Object.assign(() => given, { languageModel: () => given });
  expect(() => fromAISDK(provider)).toThrow("fromAISDK needs the options id and models for a provider");
  expect(fromAISDK(provider, { id: "p", models: { m1: {} } })).toMatchObject({ id: "p" });
  for (const wrong of ["openai/gpt-5", undefined, null, {}, { ...given, specificationVersion: "v1" }]) {
    expect(() => fromAISDK(wrong as never)).toThrow("fromAISDK takes a model of the AI SDK");
  }
});

test("ids of calls that Anthropic refuses are replaced", async () => {
  const [, , assistant, tool] = JSON.parse(JSON.stringify(REQUEST.messages).replaceAll('"c1"', '"functions.read:0"'));
  const messages = [assistant, tool];
  for (const [provider, id] of [
    ["anthropic.messages", "functions_read_0"],
    ["mock.chat", "functions.read:0"],
  ] as const) {
    const { given, calls } = model("v3", [], provider);
    await read(given, { ...REQUEST, messages });
    const [call, result] = calls[0].prompt;
    expect([call.content[1].toolCallId, result.content[0].toolCallId]).toEqual([id, id]);
  }
});

test("each warning of a model is logged once", async () => {
  const warnings = [
    { type: "unsupported-setting", setting: "topK", details: "not here" },
    { type: "unsupported", feature: "seed" },
    { type: "other", message: "odd" },
    null,
  ];
  const { given } = model("v3", [{ type: "stream-start", warnings }]);
  const provider = fromAISDK(given);
  const logged: string[] = [];
  for (let call = 0; call < 2; call += 1) {
    const stream = await provider.stream(REQUEST, { signal, warn: (message) => logged.push(message) });
    for await (const event of stream as AsyncIterable<ModelEvent>) expect(event).toBeUndefined();
  }
  expect(logged).toEqual([
    "unsupported-setting: topK: not here",
    "unsupported: seed",
    "other: odd",
    "a warning without a text",
  ]);
});
