import { exception } from "../../testkit/bedrock.js";
import { setUp } from "./support";
import type { Setup } from "./support";
import type { OpenCodeHost, SessionMessage } from "../../index.js";

// The same conversation in each protocol: reasoning, tools, five turns, and a restart between them.

const PROTOCOLS = [
  ["@ai-sdk/openai-compatible", "messages"],
  ["@ai-sdk/anthropic", "messages"],
  ["@ai-sdk/openai", "input"],
  ["@ai-sdk/google", "contents"],
  ["@ai-sdk/amazon-bedrock", "messages"],
] as const;

const PROTOCOLS_BY_NAME = [
  "@ai-sdk/openai-compatible",
  "@ai-sdk/anthropic",
  "@ai-sdk/openai",
  "@ai-sdk/google",
  "@ai-sdk/amazon-bedrock",
];

async function ask(host: OpenCodeHost, sessionID: string, text: string) {
  await host.sessions.prompt({ sessionID, prompt: { text } });
  await host.sessions.wait({ sessionID });
}

function open(setup: Setup, npm: string) {
  return setup.open({ config: setup.model.config({}, npm) });
}

/** The conversation of a request as text, without the cache marks that move from one request to the next. */
function conversation(body: any, member: string) {
  const text = JSON.stringify(body[member]).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  return text.replace(/[\]}"]+$/, "");
}

function answers(messages: readonly SessionMessage[]) {
  return messages.filter((message) => message.type === "assistant");
}

test.each(PROTOCOLS)("%s: five turns with tools, and each request extends the one before", async (npm, member) => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  setup.write("b.txt", "beta\n");
  const read = (path: string) => ({ name: "read", input: { path } });
  setup.model.reply(
    { reasoning: "I should read.", text: "Reading.", tools: [read("a.txt"), read("b.txt")] },
    { text: "Alpha and beta." },
    { reasoning: "Once more.", tools: [read("a.txt")] },
    { deltas: ["Still ", "alpha."] },
    { text: "Two." },
    { reasoning: "Hm.", text: "Three." },
    { text: "Four." },
  );

  let host = await open(setup, npm);
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Read both");
  await ask(host, sessionID, "Again");
  await host.close();
  host = await open(setup, npm);
  for (const text of ["Two?", "Three?", "Four?"]) await ask(host, sessionID, text);

  const { items } = await host.sessions.messages({ sessionID, order: "asc", limit: 100 });
  const texts = answers(items).map(({ content }) => content.flatMap((it) => (it.type === "text" ? [it.text] : [])));
  expect(texts).toEqual([["Reading."], ["Alpha and beta."], [], ["Still alpha."], ["Two."], ["Three."], ["Four."]]);
  const thoughts = answers(items).flatMap(({ content }) =>
    content.flatMap((it) => (it.type === "reasoning" ? [it.text] : [])),
  );
  expect(thoughts).toEqual(["I should read.", "Once more.", "Hm."]);
  expect(answers(items).map(({ finish }) => finish)).toEqual([
    "tool-calls",
    "stop",
    "tool-calls",
    "stop",
    "stop",
    "stop",
    "stop",
  ]);

  // Each request repeats the conversation byte for byte, also in the second host.
  const sent = setup.model.requests.map(({ body }) => conversation(body, member));
  expect(sent).toHaveLength(7);
  for (const [index, text] of sent.entries()) {
    if (index > 0) expect(text.startsWith(String(sent[index - 1]))).toBe(true);
  }
  const reports = answers(items).map(({ metadata = {} }) => (metadata["prefix"] as { reason?: string }).reason);
  expect(reports).toEqual(["first", ...Array.from({ length: 6 }, () => undefined)]);
});

test.each([
  [{}, undefined, 32_000],
  [{}, "5000", 5000],
  [{ maxTokens: 50_000 }, undefined, 50_000],
  [{ maxTokens: 50_000 }, "40000", 40_000],
] as const)("asks for an answer of a usual length: %j with %s", async (options, most, expected) => {
  const setup = await setUp();
  setup.model.reply({ text: "Hi." });
  const config = setup.model.config({}, "@ai-sdk/anthropic");
  const [model] = Object.values(config.provider.mock.models);
  Object.assign(model ?? {}, { limit: { context: 200_000, output: 64_000 }, options });
  const env = most === undefined ? {} : { OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: most };
  const host = await setup.open({ config, env });
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Hi");
  expect(setup.model.requests.map(({ body }) => body.max_tokens)).toEqual([expected]);
});

test("sends Anthropic its headers, cache marks and signed thoughts", async () => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  const read = { name: "read", input: { path: "a.txt" }, id: "toolu_a" };
  setup.model.reply({ reasoning: "Hm.", text: "Reading.", tools: [read] }, { text: "Alpha." });
  const config = setup.model.config({}, "@ai-sdk/anthropic");
  Object.assign(config.provider.mock.options, { headers: { "anthropic-beta": "mine" } });
  const host = await setup.open({ config });
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Read it");

  const [first, second] = setup.model.requests;
  expect(first?.headers).toMatchObject({
    "x-api-key": "secret",
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14,mine",
  });
  expect(first?.headers.authorization).toBeUndefined();
  expect(first?.body.max_tokens).toBe(8000);
  const mark = { cache_control: { type: "ephemeral" } };
  expect(first?.body.system.at(-1)).toMatchObject(mark);
  expect(first?.body.tools.at(-1)).toMatchObject(mark);
  const messages = second?.body.messages;
  expect(messages).toHaveLength(3);
  expect(messages[0]).toEqual({ role: "user", content: [{ type: "text", text: "Read it", ...mark }] });
  expect(messages[1]).toEqual({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk" },
      { type: "text", text: "Reading." },
      { type: "tool_use", id: "toolu_a", name: "read", input: { path: "a.txt" } },
    ],
  });
  expect(messages[2].content).toEqual([
    { type: "tool_result", tool_use_id: "toolu_a", content: expect.stringContaining("alpha") },
  ]);
});

test("sends Responses requests that are not stored, with the sealed reasoning and the phase of earlier texts", async () => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  const read = { name: "read", input: { path: "a.txt" }, id: "call_a" };
  setup.model.reply({ reasoning: "Hm.", text: "Reading.", tools: [read] }, { text: "Alpha." }, { text: "Bye." });
  let host = await open(setup, "@ai-sdk/openai");
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Read it");
  await host.close();
  host = await open(setup, "@ai-sdk/openai");
  await ask(host, sessionID, "Thanks");

  const [, , third] = setup.model.requests;
  expect(third?.headers.authorization).toBe("Bearer secret");
  expect(third?.body).toMatchObject({ store: false, prompt_cache_key: sessionID, stream: true });
  expect(third?.body.input.slice(1)).toEqual([
    { role: "user", content: [{ type: "input_text", text: "Read it" }] },
    {
      type: "reasoning",
      id: expect.stringMatching(/^rs_/),
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: expect.stringMatching(/^sealed rs_/),
    },
    { role: "assistant", content: "Reading.", phase: "final_answer" },
    { type: "function_call", call_id: "call_a", name: "read", arguments: '{"path":"a.txt"}' },
    { type: "function_call_output", call_id: "call_a", output: expect.stringContaining("alpha") },
    { role: "assistant", content: "Alpha.", phase: "final_answer" },
    { role: "user", content: [{ type: "input_text", text: "Thanks" }] },
  ]);
});

test("sends Gemini its key, and signatures and ids on the parts that they came with", async () => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  const read = { name: "read", input: { path: "a.txt" }, id: "fc_a" };
  setup.model.reply({ reasoning: "Hm.", text: "Reading.", tools: [read] }, { text: "Alpha." }, { text: "Bye." });
  let host = await open(setup, "@ai-sdk/google");
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Read it");
  await host.close();
  host = await open(setup, "@ai-sdk/google");
  await ask(host, sessionID, "Thanks");

  const [first, , third] = setup.model.requests;
  expect(first?.headers).toMatchObject({ "x-goog-api-key": "secret" });
  expect(first?.headers.authorization).toBeUndefined();
  expect(first?.body).not.toHaveProperty("model");
  expect(first?.body.tools[0].functionDeclarations.length).toBeGreaterThan(5);
  const thoughtSignature = "c2lnbmVk";
  const said = (role: string, text: string) => ({ role, parts: [{ text }] });
  expect(third?.body.contents).toEqual([
    said("user", "Read it"),
    {
      role: "model",
      parts: [
        { text: "Hm.", thought: true, thoughtSignature },
        { text: "Reading." },
        { functionCall: { name: "read", args: { path: "a.txt" }, id: "fc_a" }, thoughtSignature },
      ],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            name: "read",
            response: { name: "read", content: expect.stringContaining("alpha") },
            id: "fc_a",
          },
        },
      ],
    },
    said("model", "Alpha."),
    said("user", "Thanks"),
  ]);
});

test("signs requests to Bedrock with the access keys of the environment", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." }, { text: "Hello." });
  const config = setup.model.config({}, "@ai-sdk/amazon-bedrock");
  config.provider.mock.options = { baseURL: setup.model.url, region: "eu-west-1" } as never;
  const secret = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";
  const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: "token-4711" };
  let host = await setup.open({ config, env: keys });
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Hi");
  const scope = /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=/;
  expect(setup.model.requests[0]?.headers).toMatchObject({
    authorization: expect.stringMatching(scope),
    "x-amz-security-token": "token-4711",
  });
  await host.close();
  Object.assign(config.provider.mock, { env: ["AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"] });
  host = await setup.open({ config, env: { ...keys, AWS_BEARER_TOKEN_BEDROCK: "bearer-4711" } });
  await ask(host, sessionID, "Hi");
  expect(setup.model.requests[1]?.headers.authorization).toBe("Bearer bearer-4711");
});

test("one session changes its model at every turn through all protocols", async () => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  const names = ["chat", "anthropic", "responses", "google", "bedrock"];
  const packages = PROTOCOLS_BY_NAME;
  const provider = Object.fromEntries(
    names.map((name, at) => [name, setup.model.config({}, packages[at]).provider.mock]),
  );
  const image =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
  const host = await setup.open({ config: { model: "chat/m1", provider } });
  const { id: sessionID } = await host.sessions.create({});
  for (let turn = 0; turn < 10; turn += 1) {
    const providerID = String(names[turn % names.length]);
    await host.sessions.switchModel({ sessionID, model: { providerID, id: "m1" } });
    const tools = [{ name: "read", input: { path: "a.txt", offset: turn + 1 } }];
    setup.model.reply({ reasoning: `Turn ${turn}.`, text: "Reading.", tools }, { text: `Done ${turn}.` });
    const files = turn % 2 === 0 ? [{ uri: image }] : [];
    await host.sessions.prompt({ sessionID, prompt: { text: `Prompt ${turn}`, files } });
    await host.sessions.wait({ sessionID });
  }
  // Every request was checked against the documents of its provider.
  expect(setup.model.requests).toHaveLength(20);
  const paths = new Set(setup.model.requests.map(({ path }) => path));
  expect(paths.size).toBe(5);
  const { items } = await host.sessions.messages({ sessionID, order: "asc", limit: 200 });
  expect(answers(items).map(({ finish }) => finish)).toEqual(
    Array.from({ length: 10 }, () => ["tool-calls", "stop"]).flat(),
  );
});

test.each(PROTOCOLS)("%s: a failure in the stream fails the step, and history is compacted", async (npm, member) => {
  const setup = await setUp();
  const error = { type: "overloaded_error", message: "busy" };
  const frame = {
    messages: { type: "error", error },
    input: { type: "error", code: "server_error", message: "busy" },
    contents: { error: { code: 503, status: "UNAVAILABLE", message: "busy" } },
  }[member];
  const isBinary = npm === "@ai-sdk/amazon-bedrock";
  const raw = isBinary ? exception("serviceUnavailableException", "busy") : `data: ${JSON.stringify(frame)}\n\n`;
  setup.model.reply({ text: "One." }, { raw }, { text: "A summary." });
  const config = setup.model.config({ compaction: { keep: { tokens: 1 } } }, npm);
  const host = await setup.open({ config, retry: false });
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "One?");
  await ask(host, sessionID, "Two?");
  await host.sessions.compact({ sessionID });
  await host.sessions.wait({ sessionID });

  const { items } = await host.sessions.messages({ sessionID, order: "asc", limit: 100 });
  const failed = answers(items).at(-1);
  expect(failed?.error?.cause).toMatchObject({ kind: "overloaded", retryable: true });
  const summaries = items.flatMap((message) => (message.type === "compaction" ? [message.summary] : []));
  expect(summaries).toEqual(["A summary."]);
  expect(setup.model.requests.at(-1)?.body.tools).toBeUndefined();
});
