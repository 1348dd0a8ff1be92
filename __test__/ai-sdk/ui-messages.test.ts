// Runs and sessions as messages of the AI SDK, read by the AI SDK itself.

import { toUIMessages, toUIMessageStream } from "../../dist/ai-sdk/index";
import type { OpenCodeUIMessage, OpenCodeUIMessageChunk } from "../../dist/ai-sdk/index";
import type { OpenCodeHost, SessionRun } from "../../index.js";
import { readMessages, setUpSession } from "../embedded/support";

// The compiler refuses the declarations of this package.
const { readUIMessageStream, uiMessageChunkSchema } = require("ai") as {
  readUIMessageStream: (options: {
    stream: ReadableStream<unknown>;
    message?: OpenCodeUIMessage;
    onError?: (error: unknown) => void;
    terminateOnError?: boolean;
  }) => AsyncIterable<OpenCodeUIMessage>;
  uiMessageChunkSchema: () => { validate: (value: unknown) => Promise<{ success: boolean; error?: unknown }> };
};

async function setUpTalk() {
  const started = await setUpSession();
  const { setup, model } = started;
  setup.write("a.txt", "alpha\n");
  model.reply(
    { reasoning: "I should read.", text: "Reading.", tools: [{ name: "read", input: { path: "a.txt" }, id: "c1" }] },
    { tools: [{ name: "read", input: { path: "none.txt" }, id: "c1" }] },
    { deltas: ["Al", "pha."] },
  );
  return started;
}

const start = (host: OpenCodeHost, sessionID: string) =>
  host.sessions.run({ sessionID, id: "msg_1", prompt: "Read it", unanswered: "wait" });

async function collect(run: SessionRun, after?: number) {
  const chunks: OpenCodeUIMessageChunk[] = [];
  for await (const chunk of toUIMessageStream(run, { after })) {
    expect(await uiMessageChunkSchema().validate(chunk)).toMatchObject({ success: true });
    chunks.push(chunk);
  }
  return chunks;
}

/** The message that the AI SDK makes of chunks. */
async function read(chunks: readonly OpenCodeUIMessageChunk[], message?: OpenCodeUIMessage) {
  const stream = new ReadableStream<unknown>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last = message;
  const given = message === undefined ? {} : { message: structuredClone(message) };
  for await (const state of readUIMessageStream({ stream, ...given })) last = state;
  return last as OpenCodeUIMessage;
}

/** Returns the visible content of a message. */
function shown({ id, role, parts }: OpenCodeUIMessage) {
  return JSON.parse(
    JSON.stringify({ id, role, parts: parts.map(({ ...part }) => Object.assign(part, { id: undefined })) }),
  );
}

const position = (chunk: OpenCodeUIMessageChunk) =>
  chunk.type === "message-metadata" ? chunk.messageMetadata.opencode.after : undefined;

test("the AI SDK reads a run as one message", async () => {
  const { host, sessionID } = await setUpTalk();
  const message = await read(await collect(start(host, sessionID)));
  expect(message).toMatchObject({
    id: "msg_1-answer",
    role: "assistant",
    metadata: { opencode: { sessionID, messageID: "msg_1", outcome: "completed", usage: { output: 15 } } },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "I should read.", state: "done" },
      { type: "text", text: "Reading.", state: "done" },
      { type: "dynamic-tool", toolName: "read", state: "output-available", input: { path: "a.txt" } },
      { type: "step-start" },
      { type: "dynamic-tool", toolName: "read", state: "output-error", input: { path: "none.txt" } },
      { type: "step-start" },
      { type: "text", text: "Alpha.", state: "done" },
    ],
  });
  expect(JSON.stringify(message)).toContain("alpha");
});

test("the stored messages are the same message", async () => {
  const { host, sessionID } = await setUpTalk();
  const streamed = await read(await collect(start(host, sessionID)));
  const [prompt, answer, ...more] = toUIMessages(await readMessages(host, sessionID));
  expect(prompt).toEqual({ id: "msg_1", role: "user", parts: [{ type: "text", text: "Read it", state: "done" }] });
  expect(shown(answer as OpenCodeUIMessage)).toEqual(shown(streamed));
  expect(more).toEqual([]);
});

test("the sources of an answer are parts of its message", async () => {
  const { host, sessionID, model } = await setUpSession();
  const cited = [
    { type: "url_citation", url_citation: { url: "https://a.test", title: "A" } },
    { type: "url_citation", url_citation: { url: "https://b.test" } },
    { type: "file_citation", file_citation: { file_id: "file_1", filename: "c.md" } },
    { type: "file_path", file_path: { file_id: "file_2" } },
  ];
  const delta = { content: "Yes.", annotations: cited };
  const raw = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: "stop" }] });
  model.reply({ raw: `data: ${raw}\n\n` });
  const streamed = await read(await collect(start(host, sessionID)));
  const sources = streamed.parts.filter(({ type }) => type.startsWith("source-"));
  const mediaType = "application/octet-stream";
  expect(sources).toEqual([
    { type: "source-url", sourceId: expect.any(String), url: "https://a.test", title: "A" },
    { type: "source-url", sourceId: expect.any(String), url: "https://b.test" },
    { type: "source-document", sourceId: expect.any(String), mediaType, title: "c.md", filename: "c.md" },
    { type: "source-document", sourceId: expect.any(String), mediaType, title: "file_2" },
  ]);
  const [, answer] = toUIMessages(await readMessages(host, sessionID));
  expect(shown(answer as OpenCodeUIMessage)).toEqual(shown(streamed));
});

test.each([7, "https://a.test", [7, null, {}, { type: "url" }, { type: "url", url: "javascript:alert(1)" }]])(
  "sources of an imported answer that no host stores are left out: %j",
  async (sources) => {
    const { host, sessionID } = await setUpTalk();
    await start(host, sessionID).result;
    const messages = await readMessages(host, sessionID);
    const imported = messages.map((message) => ({ ...message, metadata: { sources } }));
    expect(toUIMessages(imported)).toEqual(toUIMessages(messages));
  },
);

test("a later run of the same prompt streams the same message, also in another host", async () => {
  const { setup, host, sessionID, model } = await setUpTalk();
  const first = await read(await collect(start(host, sessionID)));
  await host.close();
  const reopened = await setup.open();
  const again = await read(await collect(start(reopened, sessionID)));
  expect(shown(again)).toEqual(shown(first));
  expect(model.requests).toHaveLength(3);
});

test("a stream continues after every position that the message had", async () => {
  const { host, sessionID } = await setUpTalk();
  const chunks = await collect(start(host, sessionID));
  const whole = shown(await read(chunks));
  const positions = chunks.map(position).filter((after) => after !== undefined);
  expect(positions.length).toBeGreaterThan(6);
  for (const after of positions) {
    const before = chunks.slice(0, chunks.findIndex((chunk) => position(chunk) === after) + 1);
    const partial = await read(before);
    expect(partial.metadata?.opencode.after).toBe(after);
    const rest = await collect(start(host, sessionID), after);
    expect(shown(await read(rest, partial))).toEqual(whole);
    expect(before.length + rest.length).toBeLessThanOrEqual(chunks.length + 2);
  }
});

test("a reader that joins in the middle of an answer gets it from the beginning", async () => {
  const { host, sessionID, model } = await setUpSession();
  model.reply({ deltas: ["one ", "two ", "three"], gate: "middle" });
  const first = start(host, sessionID);
  await model.reached("middle");
  const joined = collect(start(host, sessionID));
  model.release("middle");
  expect((await read(await joined)).parts).toMatchObject([{ type: "step-start" }, { text: "one two three" }]);
  await first.result;
});

test("cancelling a stream does not stop the run", async () => {
  const { host, sessionID, model } = await setUpSession();
  model.reply({ deltas: ["one ", "two"], gate: "middle" });
  const run = start(host, sessionID);
  const reader = toUIMessageStream(run).getReader();
  await reader.read();
  await reader.cancel();
  model.release("middle");
  await expect(run.result).resolves.toMatchObject({ outcome: "completed", text: "one two" });
});

test("a failure and an interruption end the message", async () => {
  const { host, sessionID, model } = await setUpSession();
  model.reply({ status: 401, body: { error: { message: "no key" } } }, { deltas: ["one ", "two"], gate: "middle" });
  const failed = await collect(start(host, sessionID));
  expect(failed.at(-1)).toMatchObject({ type: "error", errorText: expect.stringContaining("no key") });
  const run = host.sessions.run({ sessionID, prompt: "Again" });
  const chunks = collect(run);
  await model.reached("middle");
  await run.abort();
  expect((await chunks).at(-1)).toMatchObject({ type: "abort" });
});

test("a run that cannot begin is an error", async () => {
  const { host } = await setUpSession();
  const chunks = await collect(host.sessions.run({ sessionID: "ses_none", prompt: "Hi" }));
  expect(chunks).toEqual([{ type: "error", errorText: expect.stringContaining("ses_none") }]);
});

test("permissions and questions are data parts", async () => {
  const { setup } = await setUpSession();
  const host = await setup.open({
    database: ":memory:",
    config: setup.model.config({ permission: { read: "ask" } }),
  });
  const { id: sessionID } = await host.sessions.create();
  setup.write("a.txt", "alpha\n");
  const ask = { questions: [{ question: "Which?", header: "Choice", options: [{ label: "A", description: "a" }] }] };
  setup.model.reply(
    { tools: [{ name: "read", input: { path: "a.txt" }, id: "c1" }] },
    { tools: [{ name: "question", input: ask, id: "c2" }] },
    { text: "Done." },
  );
  const seen: string[] = [];
  for await (const chunk of toUIMessageStream(start(host, sessionID))) {
    if (chunk.type === "data-opencode-permission") {
      seen.push(chunk.data.action);
      await host.permissions.reply({ sessionID, requestID: chunk.data.id, reply: "once" });
    } else if (chunk.type === "data-opencode-question") {
      seen.push(chunk.data.questions[0]?.question ?? "");
      await host.questions.reply({ sessionID, requestID: chunk.data.id, answers: [["A"]] });
    }
  }
  expect(seen).toEqual(["read", "Which?"]);
});

test.each([-1, 0.5, Number.NaN, "7"])("the position %p is refused", async (after) => {
  const { host, sessionID } = await setUpSession();
  const run = start(host, sessionID);
  expect(() => toUIMessageStream(run, { after: after as number })).toThrow("after must be a whole number from 0 on");
  await run.result;
});
