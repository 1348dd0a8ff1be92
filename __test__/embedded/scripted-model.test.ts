import { rejection } from "../client/support";
import { startModel, UNSCRIPTED } from "../../testkit/model.js";
import anthropic from "../../testkit/anthropic.js";
import { findViolations } from "../../testkit/request-rules.js";
import responses from "../../testkit/responses.js";

// The other tests rely on the scripted model, so these tests check it.

type Model = Awaited<ReturnType<typeof startModel>>;

let model: Model;

beforeEach(async () => {
  model = await startModel();
});

afterEach(() => model.close());

const user = { role: "user", content: "Hi" };

function ask(messages: readonly object[] = [user], init: RequestInit = {}) {
  const body = JSON.stringify({ model: "m1", stream: true, messages });
  return fetch(`${model.url}/chat/completions`, { method: "POST", body, ...init });
}

/** The chunks of an answer, without the final marker. */
async function read(response: Response) {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "");
  expect(frames.pop()).toBe("data: [DONE]");
  return frames.map((frame) => JSON.parse(frame.slice("data: ".length)));
}

async function readText(response: Response) {
  const chunks = await read(response);
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

test("sends replies in order, then a fixed one", async () => {
  model.reply({ text: "One." }, { deltas: ["Tw", "o."] });
  model.reply({ text: "Three." });
  const texts = [];
  for (let n = 0; n < 4; n += 1) texts.push(await readText(await ask()));
  expect(texts).toEqual(["One.", "Two.", "Three.", UNSCRIPTED]);
  expect(model.requests.map(({ body }) => body.messages)).toEqual(Array.from({ length: 4 }, () => [user]));
  expect(model.violations).toEqual([]);
});

test("an answer contains all its parts", async () => {
  const usage = { input: 9, output: 8, cached: 7, reasoning: 6 };
  model.reply({ reasoning: "Hm.", text: "See.", tools: [{ name: "read", input: { a: 1 }, id: "c" }], usage });
  const chunks = await read(await ask());
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta));
  expect(deltas).toEqual([
    { role: "assistant", content: "" },
    { reasoning_content: "Hm." },
    { content: "See." },
    { tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "read", arguments: '{"a' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '":1}' } }] },
    {},
  ]);
  expect(chunks.at(-2).choices[0].finish_reason).toBe("tool_calls");
  expect(chunks.at(-1).usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 8, total_tokens: 17 });
});

test("a gate blocks the last delta", async () => {
  model.reply({ deltas: ["a", "b"], gate: "middle" });
  const response = await ask();
  await model.reached("middle");
  const reader = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
  const { value } = (await reader.read()) as { value: string };
  expect(value).toContain('"content":"a"');
  expect(value).not.toContain('"content":"b"');
  model.release("middle");
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) rest += piece.value;
  expect(rest).toContain('"content":"b"');
  expect(model.requests[0]).toMatchObject({ aborted: false });
});

test("detects a client that disconnects, also at a gate", async () => {
  model.reply({ text: "Never.", gate: "start" });
  const controller = new AbortController();
  const response = await ask([user], { signal: controller.signal });
  await model.reached("start");
  controller.abort();
  await rejection(response.text());
  const request = await model.received(1);
  await request.closed;
  expect(request.aborted).toBe(true);
});

test("a cut breaks the connection after the deltas", async () => {
  model.reply({ deltas: ["a", "b"], cut: true });
  const response = await ask();
  await rejection(response.text());
  const request = await model.received(1);
  await request.closed;
  expect(request.aborted).toBe(false);
});

test("sends error statuses and raw bytes unchanged", async () => {
  model.reply({ status: 503, headers: { "retry-after": "1" }, body: "Later" });
  model.reply({ status: 400, body: { a: 1 } }, { raw: "?" });
  const busy = await ask();
  expect([busy.status, busy.headers.get("retry-after"), await busy.text()]).toEqual([503, "1", "Later"]);
  const invalid = await ask();
  expect([invalid.status, await invalid.json()]).toEqual([400, { a: 1 }]);
  const raw = await ask();
  expect([raw.headers.get("content-type"), await raw.text()]).toEqual(["text/event-stream", "?"]);
});

test("reports a Chat Completions request that no provider accepts as a violation", () => {
  const call = (name: string, input: string) => ({ id: "c", type: "function", function: { name, arguments: input } });
  const calling = (...made: object[]) => ({ role: "assistant", content: null, tool_calls: made });
  const calls = calling(call("read", "{}"));
  const result = { role: "tool", tool_call_id: "c", content: "A" };
  const said = { role: "assistant", content: "Hello" };
  const rows: [RegExp | undefined, object[]][] = [
    [undefined, [user]],
    [undefined, [{ role: "system", content: "S" }, user, calls, result, said, user]],
    [/no messages/, []],
    [/begins with assistant/, [said, user]],
    [/ends with assistant/, [user, said]],
    [/repeats assistant/, [user, said, said, user]],
    [/has the unexpected role system/, [user, { role: "system", content: "S" }, user]],
    [/is empty/, [{ role: "user" }]],
    [/is empty/, [user, { role: "assistant", content: null }, user]],
    [/c have no results/, [user, calls]],
    [/before the results of c/, [user, calls, user]],
    [/is the result of no call/, [user, result]],
    [/is the result of no call/, [user, calls, result, result]],
    [/two calls with one id/, [user, calling(call("read", "{}"), call("read", "{}")), result]],
    [/arguments .* not an object/, [user, calling(call("read", "[]")), result]],
    [/has the invalid name no such/, [user, calling(call("no such", "{}")), result]],
  ];
  for (const [problem, messages] of rows) {
    const violations = findViolations({ model: "m1", stream: true, messages }).join("; ");
    if (problem === undefined) expect(violations).toBe("");
    else expect(violations).toMatch(problem);
  }
  expect(findViolations("?")).toEqual(["the body is not an object"]);
});

test("sends a reply in the protocol of its request", async () => {
  const reply = { reasoning: "Hm.", deltas: ["S", "ee."], tools: [{ name: "read", input: { a: 1 }, id: "c" }] };
  model.reply(reply, reply);
  const types = async (path: string) => {
    const response = await fetch(`${model.url}/${path}`, { method: "POST", body: "{}" });
    return [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
  };
  const block = (deltas: number) => [
    "content_block_start",
    ...Array.from({ length: deltas }, () => "content_block_delta"),
    "content_block_stop",
  ];
  const blocks = [...block(2), ...block(2), ...block(2)];
  expect(await types("messages")).toEqual(["message_start", ...blocks, "message_delta", "message_stop"]);
  const item = (...events: string[]) => ["output_item.added", ...events, "output_item.done"];
  const summary = ["part.added", "text.delta", "part.done"].map((event) => `reasoning_summary_${event}`);
  const input = "function_call_arguments.delta";
  const items = [...item(...summary), ...item("output_text.delta", "output_text.delta"), ...item(input, input)];
  expect(await types("responses")).toEqual(["created", ...items, "completed"].map((event) => `response.${event}`));
});

test("reports an Anthropic request that the API does not accept as a violation", () => {
  const said = (role: string, ...content: object[]) => ({ role, content });
  const text = (words: string) => ({ type: "text", text: words });
  const call = { type: "tool_use", id: "c", name: "read", input: {} };
  const result = { type: "tool_result", tool_use_id: "c", content: "A" };
  const asked = said("user", text("Hi"));
  const mark = { cache_control: { type: "ephemeral" } };
  const rows: [RegExp | undefined, object[]][] = [
    [undefined, [asked]],
    [undefined, [asked, said("assistant", call), said("user", result, text("And?"))]],
    [/does not begin with the user/, []],
    [/ends with the assistant/, [asked, said("assistant", text("Hello"))]],
    [/repeats user/, [asked, asked]],
    [/is empty/, [said("user")]],
    [/blank text/, [said("user", text(" "))]],
    [/unsigned thought/, [asked, said("assistant", { type: "thinking", thinking: "Hm." }), asked]],
    [/bad call id/, [asked, said("assistant", { ...call, id: "a.b" }), asked]],
    [/results of c/, [asked, said("assistant", call), said("user", text("And?"), result)]],
    [/results of nothing/, [said("user", result)]],
    [/5 cache marks/, [said("user", ...Array.from({ length: 5 }, () => ({ ...text("a"), ...mark })))]],
  ];
  for (const [problem, messages] of rows) {
    const violations = anthropic.findViolations({ model: "m1", stream: true, max_tokens: 1, messages }).join("; ");
    if (problem === undefined) expect(violations).toBe("");
    else expect(violations).toMatch(problem);
  }
  expect(anthropic.findViolations("?")).toEqual(["the body is not an object"]);
});

test("reports a Responses request that OpenAI does not accept as a violation", () => {
  const call = { type: "function_call", call_id: "c", name: "read", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c", output: "A" };
  const thought = { type: "reasoning", id: "rs", summary: [], encrypted_content: "E" };
  const rows: [RegExp | undefined, object[]][] = [
    [undefined, [user, call, output]],
    [undefined, [user, thought, call, output]],
    [/without a following answer/, [user, thought]],
    [/has no id/, [user, { type: "reasoning", summary: [], encrypted_content: "E" }, call, output]],
    [/no input/, []],
    [/c have no results/, [user, call]],
    [/is the result of no call/, [user, output]],
    [/references an item that is not stored/, [user, { type: "item_reference", id: "rs" }]],
    [/without encrypted content/, [user, { type: "reasoning", summary: [] }]],
  ];
  for (const [problem, input] of rows) {
    const violations = responses.findViolations({ model: "m1", stream: true, store: false, input }).join("; ");
    if (problem === undefined) expect(violations).toBe("");
    else expect(violations).toMatch(problem);
  }
  expect(responses.findViolations("?")).toEqual(["the body is not an object"]);
});
