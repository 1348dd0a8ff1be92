// Calls with mistakes of the model: each fails alone with the reason, or runs if it has one certain meaning.

import { readHistory, readMessages, readTranscript, run, setUp, setUpSession } from "./support";
import type { Setup } from "./support";
import type { AssistantPart, OpenCodeHost } from "../../index.js";

const CHAT = "@ai-sdk/openai-compatible";
/** Gemini sends input as JSON, so its input is never broken text. */
const WITH_TEXT = [CHAT, "@ai-sdk/anthropic", "@ai-sdk/openai", "@ai-sdk/amazon-bedrock"];
const ALL = [...WITH_TEXT, "@ai-sdk/google"];

type ToolPart = Extract<AssistantPart, { type: "tool" }>;

async function open(setup: Setup, npm: string) {
  const host = await setup.open({ config: setup.model.config({}, npm) });
  setup.write("a.txt", "alpha\n");
  setup.write("b.txt", "beta\n");
  const { id: sessionID } = await host.sessions.create({});
  return { host, sessionID };
}

async function readTools(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  return messages.flatMap((message) =>
    message.type === "assistant" ? message.content.filter((part): part is ToolPart => part.type === "tool") : [],
  );
}

const read = (input: string, id?: string) => ({ name: "read", input, ...(id === undefined ? {} : { id }) });

const UNREADABLE = [
  '{"path": "a.txt"',
  "{'path': 'a.txt'}",
  '{"path": "src\\d.txt"}',
  '{"path":"a.txt"}{"path":"b.txt"}',
  'Reading: {"path":"a.txt"}',
  '{"path":"a.txt"} as agreed',
];

const READABLE = [
  '{"path":"a.txt",}',
  '\ufeff{"path":"a.txt"}',
  '```json\n{"path":"a.txt"}\n```',
  '{"path":"a.txt"}{"path":"a.txt"}',
  '{"path":"a.txt",\n"offset":1}',
];

describe.each(WITH_TEXT)("%s", (npm) => {
  test.each(UNREADABLE)("%j fails the call alone, and the model reads the reason", async (input) => {
    const setup = await setUp();
    const { host, sessionID } = await open(setup, npm);
    const tools = [read(input, "call_a"), read('{"path":"b.txt"}', "call_b")];
    setup.model.reply({ text: "Reading.", tools }, { text: "I see." }, { text: "Yes." });
    const result = await host.sessions.run({ sessionID, prompt: { text: "Read" } }).result;
    expect(result.outcome).toBe("completed");
    expect(await readTranscript(host, sessionID)).toEqual([
      "user: Read",
      "assistant: Reading.[read error][read completed]",
      "assistant: I see.",
    ]);
    const [broken, sound] = await readTools(host, sessionID);
    const message = expect.stringMatching(/^Invalid tool input: .* at line 1 column \d+\..*/);
    expect(broken?.state).toMatchObject({ status: "error", input: {}, error: { message } });
    expect(sound?.state).toMatchObject({ status: "completed", input: { path: "b.txt" } });
    const sent = JSON.stringify(setup.model.requests[1]?.body);
    expect(sent).toContain("Invalid tool input");
    expect(sent).toContain("beta");
    // Nothing of the answer is in the way of the next prompt.
    await run(host, sessionID, "Again");
    expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Yes.");
  });

  test.each(READABLE)("%j runs", async (input) => {
    const setup = await setUp();
    const { host, sessionID } = await open(setup, npm);
    setup.model.reply({ tools: [read(input)] }, { text: "Alpha." });
    await run(host, sessionID, "Read");
    const [tool] = await readTools(host, sessionID);
    expect(tool?.state).toMatchObject({ status: "completed", input: { path: "a.txt" } });
  });

  test.each(["null", "[]", '"{\\"path\\":\\"a.txt\\"}"'])("%s fails the call", async (input) => {
    const setup = await setUp();
    const { host, sessionID } = await open(setup, npm);
    setup.model.reply({ tools: [read(input)] }, { text: "I see." });
    await run(host, sessionID, "Read");
    const [tool] = await readTools(host, sessionID);
    expect(tool?.state).toMatchObject({ status: "error", error: { message: expect.stringMatching(/object/i) } });
    expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: I see.");
  });
});

test.each(ALL)("%s: two calls with one id run, and each has a result of its own", async (npm) => {
  const setup = await setUp();
  const { host, sessionID } = await open(setup, npm);
  const tools = [
    { name: "read", input: { path: "a.txt" }, id: "c1" },
    { name: "read", input: { path: "b.txt" }, id: "c1" },
  ];
  setup.model.reply({ tools }, { text: "Alpha and beta." });
  await run(host, sessionID, "Read both");
  const made = await readTools(host, sessionID);
  expect(made.map(({ id }) => id)).toEqual(["c1", "c1_2"]);
  expect(made.map(({ state }) => state)).toMatchObject([
    { status: "completed", input: { path: "a.txt" } },
    { status: "completed", input: { path: "b.txt" } },
  ]);
  const sent = JSON.stringify(setup.model.requests[1]?.body);
  for (const text of ["alpha", "beta"]) expect(sent).toContain(text);
});

test.each(ALL)("%s: a call without a name and one of an unknown tool learn which tools there are", async (npm) => {
  const setup = await setUp();
  const { host, sessionID } = await open(setup, npm);
  const tools = [
    { name: "", input: { path: "a.txt" }, id: "c1" },
    { name: "raed", input: { path: "a.txt" }, id: "c2" },
    { name: "read", input: { path: "b.txt" }, id: "c3" },
  ];
  setup.model.reply({ tools }, { text: "I see." });
  await run(host, sessionID, "Read");
  // A call without a name is announced at its end.
  const parts = (await readTools(host, sessionID)).toSorted((a, b) => a.id.localeCompare(b.id));
  const states = parts.map(({ state }) => state);
  const available = /Available tools: apply_patch, bash, edit, /;
  expect(states).toMatchObject([
    { status: "error", error: { message: expect.stringMatching(available) } },
    { status: "error", error: { message: expect.stringMatching(/^Unknown tool: raed\. Similar tools: read$/) } },
    { status: "completed" },
  ]);
});

test("no hook, no rule and no stored event sees a call with broken input as a sound one", async () => {
  const { host, model, sessionID } = await setUpSession();
  const seen: string[] = [];
  host.hooks.onToolCall(({ callID }) => void seen.push(callID));
  const tools = [
    { name: "bash", input: '{"command": "touch made"', id: "c1" },
    { name: "bash", input: '{"command": "true"}', id: "c2" },
  ];
  model.reply({ tools }, { text: "Done." });
  await run(host, sessionID, "Go");
  expect(seen).toEqual(["c2"]);
  const events = (await readHistory(host, sessionID)).filter(
    ({ data }) => (data as { callID?: string }).callID === "c1",
  );
  expect(events.map(({ type }) => type.replace("session.next.", ""))).toEqual([
    "tool.input.started",
    "tool.input.ended",
    "tool.called",
    "tool.failed",
  ]);
});

test("a task goes on after a broken call of its agent", async () => {
  const { host, model, sessionID } = await setUpSession();
  const input = { description: "A look", prompt: "Where?", agent: "explore" };
  model.reply(
    { tools: [{ name: "task", input }] },
    { tools: [read('{"path": "a.t')] },
    { text: "In src." },
    { text: "It is in src." },
  );
  await run(host, sessionID, "Find it");
  expect(await readTranscript(host, sessionID)).toEqual([
    "user: Find it",
    "assistant: [task completed]",
    "assistant: It is in src.",
  ]);
});

test("an answer that the output limit cut in a call goes on", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ tools: [read('{"path": "a.t')], finish: "length" }, { text: "Shorter." });
  await run(host, sessionID, "Read");
  const [tool] = await readTools(host, sessionID);
  const message = expect.stringContaining("reached its limit of output tokens");
  expect(tool?.state).toMatchObject({ status: "error", error: { message } });
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Shorter.");
});

const chunk = (call: object) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`;
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';
const part = (name: string | null, argumentsOf: string) => ({ index: 0, function: { name, arguments: argumentsOf } });
const PATH = '{"path":"a.txt"}';

test.each<[string, object[]]>([
  ["in pieces", [part("re", ""), part("ad", PATH)]],
  ["in pieces with its input", [part("re", PATH.slice(0, 5)), part("ad", PATH.slice(5))]],
  ["after its input", [part(null, PATH), part("read", "")]],
  ["in each piece", [part("read", PATH.slice(0, 5)), part("read", PATH.slice(5))]],
])("a name that comes %s", async (_, pieces) => {
  const setup = await setUp();
  const { host, sessionID } = await open(setup, CHAT);
  const [first, ...more] = pieces;
  setup.model.reply(
    { raw: [{ ...first, id: "c1", type: "function" }, ...more].map(chunk).join("") + END },
    { text: "Alpha." },
  );
  await run(host, sessionID, "Read");
  const [tool] = await readTools(host, sessionID);
  expect(tool).toMatchObject({ id: "c1", name: "read", state: { status: "completed" } });
});
