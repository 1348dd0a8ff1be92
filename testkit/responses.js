"use strict";

// The dialect of the scripted model for OpenAI Responses.

/** @typedef {import("./reply.js").Reply} Reply */

/** Maximum number of calls that requests can reference. */
const MAX_STORED_CALLS = 10_000;

let lastItem = 0;

/**
 * The ids of answered calls, by the id of their item. A request can reference such an item instead of repeating it.
 *
 * @type {Map<string, string>}
 */
const storedCalls = new Map();

/**
 * @param {string} item
 * @param {string} callID
 */
function storeCall(item, callID) {
  storedCalls.set(item, callID);
  const [oldest = item] = storedCalls.keys();
  if (storedCalls.size > MAX_STORED_CALLS) storedCalls.delete(oldest);
}

/** @param {string} kind */
function nextID(kind) {
  return `${kind}_${(lastItem += 1)}`;
}

function opening() {
  const response = { id: nextID("resp"), status: "in_progress", created_at: 1_700_000_000, model: "m1" };
  return frame({ type: "response.created", response });
}

/**
 * One frame for each delta. The first and the last frame of an item also contain its start and its end.
 *
 * @param {Reply} reply
 */
function deltas({ reasoning, text, deltas: texts = text === undefined ? [] : [text], tools = [] }) {
  const items = [];
  if (reasoning !== undefined) items.push(thought(reasoning));
  if (texts.length > 0) items.push(message(texts));
  for (const { name, input, id = nextID("call") } of tools) items.push(call(name, input, id));
  return items.flatMap(({ begun, done, events }, output_index) =>
    events.map((event, at) => {
      const start = frame({ type: "response.output_item.added", output_index, item: begun });
      const stop = frame({ type: "response.output_item.done", output_index, item: done });
      return `${at === 0 ? start : ""}${frame({ ...event, output_index })}${at === events.length - 1 ? stop : ""}`;
    }),
  );
}

/** @param {string} text */
function thought(text) {
  const id = nextID("rs");
  const summary = [{ type: "summary_text", text }];
  const base = { id, type: "reasoning" };
  const part = { item_id: id, summary_index: 0 };
  return {
    begun: { ...base, summary: [], encrypted_content: null },
    done: { ...base, summary, encrypted_content: `sealed ${id}` },
    events: [
      { type: "response.reasoning_summary_part.added", ...part },
      { type: "response.reasoning_summary_text.delta", ...part, delta: text },
      { type: "response.reasoning_summary_part.done", ...part },
    ],
  };
}

/** @param {readonly string[]} texts */
function message(texts) {
  const id = nextID("msg");
  const base = { id, type: "message", role: "assistant", phase: "final_answer" };
  return {
    begun: { ...base, content: [] },
    done: { ...base, content: [{ type: "output_text", text: texts.join("") }] },
    events: texts.map((delta) => ({ type: "response.output_text.delta", item_id: id, delta })),
  };
}

/**
 * @param {string} name
 * @param {object | string} input
 * @param {string} call_id
 */
function call(name, input, call_id) {
  const id = nextID("fc");
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const half = Math.floor(text.length / 2);
  const base = { id, type: "function_call", call_id, name };
  storeCall(id, call_id);
  return {
    begun: { ...base, arguments: "" },
    done: { ...base, arguments: text, status: "completed" },
    events: [text.slice(0, half), text.slice(half)].map((delta) => ({
      type: "response.function_call_arguments.delta",
      item_id: id,
      delta,
    })),
  };
}

/** @param {Reply} reply */
function end({ finish, usage = {} }) {
  const { input = 10, output = 5, cached = 0, reasoning = 0 } = usage;
  const counted = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
  const incomplete = finish === undefined ? {} : { incomplete_details: { reason: finish } };
  const type = finish === undefined ? "response.completed" : "response.incomplete";
  return frame({ type, response: { usage: counted, ...incomplete } });
}

/** @param {{ type: string, [member: string]: unknown }} event */
function frame(event) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/**
 * The violations in a request.
 *
 * @param {any} body
 * @returns {string[]}
 */
function findViolations(body) {
  if (typeof body !== "object" || body === null) return ["the body is not an object"];
  const violations = [];
  if (typeof body.model !== "string" || body.model === "") violations.push("no model");
  if (body.stream !== true) violations.push("stream is not true");
  if (!Array.isArray(body.input) || body.input.length === 0) return [...violations, "no input"];
  for (const tool of body.tools ?? []) {
    if (tool.type === "function" && tool.parameters?.type !== "object")
      violations.push(`${tool.name} does not take an object`);
  }
  const calls = new Set();
  for (const [index, item] of body.input.entries()) {
    if (item.type === "function_call") calls.add(item.call_id);
    if (item.type === "item_reference" && storedCalls.has(item.id)) calls.add(storedCalls.get(item.id));
    if (item.type === "function_call_output" && !calls.delete(item.call_id)) {
      violations.push(`item ${index} is the result of no call`);
    }
    // Items that are not stored cannot be referenced, only repeated.
    if (body.store === false && item.type === "item_reference")
      violations.push(`item ${index} references an item that is not stored`);
    if (item.type === "reasoning" && typeof item.id !== "string") violations.push(`item ${index} has no id`);
    violations.push(...orderProblems(index, item, body.input[index + 1]), ...contentProblems(index, item));
    if (item.type === "reasoning" && typeof item.encrypted_content !== "string") {
      violations.push(`item ${index} is reasoning without encrypted content`);
    }
  }
  if (calls.size > 0) violations.push(`the calls ${[...calls].join(", ")} have no results`);
  return violations;
}

/**
 * An answer must not be the last item, and a thought must precede the item to which it led.
 *
 * @param {number} index
 * @param {any} item
 * @param {any} next
 */
function orderProblems(index, item, next) {
  const problems = [];
  const isAnswer = next?.role === "assistant" || String(next?.type).endsWith("_call") || next?.type === "reasoning";
  if (item.type === "reasoning" && !isAnswer) problems.push(`item ${index} is a thought without a following answer`);
  if (item.role === "assistant" && next === undefined) problems.push("the input ends with the assistant");
  return problems;
}

/**
 * The parts of a message must have the members that the published types of the API require.
 *
 * @param {number} index
 * @param {any} item
 */
function contentProblems(index, item) {
  if (!Array.isArray(item.content)) return [];
  const problems = [];
  for (const part of item.content) {
    if (part.type === "input_image" && typeof part.detail !== "string")
      problems.push(`item ${index} has an image without a detail`);
    const isWhole = item.type === "message" && typeof item.id === "string" && typeof item.status === "string";
    if (part.type === "output_text" && !isWhole) problems.push(`item ${index} is an answer in parts without an id`);
  }
  return problems;
}

module.exports = { opening, deltas, end, findViolations };
