import { setUp } from "./support";
import type { Setup } from "./support";
import type { OpenCodeHost, SessionMessage } from "../../index.js";

// The same conversation in each protocol: reasoning, tools, five turns, and a restart between them.

const PROTOCOLS = [
  ["@ai-sdk/openai-compatible", "messages"],
  ["@ai-sdk/anthropic", "messages"],
  ["@ai-sdk/openai", "input"],
] as const;

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

test.each(PROTOCOLS)("%s: a failure in the stream fails the step, and history is compacted", async (npm, member) => {
  const setup = await setUp();
  const overloaded =
    member === "input"
      ? { type: "error", code: "server_error", message: "busy" }
      : { type: "error", error: { type: "overloaded_error", message: "busy" } };
  setup.model.reply({ text: "One." }, { raw: `data: ${JSON.stringify(overloaded)}\n\n` }, { text: "A summary." });
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
