"use strict";

// The dialect of the scripted model for Anthropic Messages.

/**
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("./reply.js").ToolCall} ToolCall
 */

/** The signature of thoughts. */
const SIGNATURE = "c2lnbmVk";

/** @param {Reply} reply */
function opening({ usage = {} }) {
  const { input = 10, cached = 0 } = usage;
  const counted = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  return frame({ type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage: counted } });
}

/**
 * One frame for each delta. The first and the last frame of a block also contain its start and its end.
 *
 * @param {Reply} reply
 */
function deltas({ reasoning, text, deltas: texts = text === undefined ? [] : [text], tools = [] }) {
  /** @type {{ block: object, deltas: object[] }[]} */
  const blocks = [];
  if (reasoning !== undefined) {
    const signature = { type: "signature_delta", signature: SIGNATURE };
    const thought = { type: "thinking_delta", thinking: reasoning };
    blocks.push({ block: { type: "thinking", thinking: "", signature: "" }, deltas: [thought, signature] });
  }
  if (texts.length > 0) {
    const pieces = texts.map((piece) => ({ type: "text_delta", text: piece }));
    blocks.push({ block: { type: "text", text: "" }, deltas: pieces });
  }
  for (const { name, input, id = nextID() } of tools) {
    const json = typeof input === "string" ? input : JSON.stringify(input);
    const half = Math.floor(json.length / 2);
    const pieces = [json.slice(0, half), json.slice(half)];
    blocks.push({
      block: { type: "tool_use", id, name, input: {} },
      deltas: pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    });
  }
  return blocks.flatMap(({ block, deltas: pieces }, index) =>
    pieces.map((delta, at) => {
      const start = at === 0 ? frame({ type: "content_block_start", index, content_block: block }) : "";
      const stop = at === pieces.length - 1 ? frame({ type: "content_block_stop", index }) : "";
      return `${start}${frame({ type: "content_block_delta", index, delta })}${stop}`;
    }),
  );
}

/** @param {Reply} reply */
function end({ tools = [], finish = tools.length === 0 ? "end_turn" : "tool_use", usage = {} }) {
  const counted = { output_tokens: usage.output ?? 5 };
  const delta = { stop_reason: finish, stop_sequence: null };
  return `${frame({ type: "message_delta", delta, usage: counted })}${frame({ type: "message_stop" })}`;
}

/** @param {{ type: string, [member: string]: unknown }} event */
function frame(event) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

let lastCall = 0;

function nextID() {
  return `toolu_${(lastCall += 1)}`;
}

/**
 * The violations in a request.
 *
 * @param {any} body
 * @param {boolean} [isPaused] True if an answer was paused. Then an assistant message may be the last one.
 * @returns {string[]}
 */
function findViolations(body, isPaused = false) {
  if (typeof body !== "object" || body === null) return ["the body is not an object"];
  const violations = [];
  if (typeof body.model !== "string" || body.model === "") violations.push("no model");
  return [...violations, ...findSharedViolations(body, isPaused)];
}

/**
 * The violations in a request to Google Vertex, whose address names the model.
 *
 * @param {any} body
 * @param {boolean} [isPaused] As in `findViolations`.
 * @returns {string[]}
 */
function findVertexViolations(body, isPaused = false) {
  if (typeof body !== "object" || body === null) return ["the body is not an object"];
  const violations = "model" in body ? ["a model"] : [];
  if (body.anthropic_version !== "vertex-2023-10-16") violations.push("no version");
  return [...violations, ...findSharedViolations(body, isPaused)];
}

/**
 * The violations that do not depend on the server.
 *
 * @param {any} body
 * @param {boolean} isPaused
 * @returns {string[]}
 */
function findSharedViolations(body, isPaused) {
  const violations = [];
  if (body.stream !== true) violations.push("stream is not true");
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) violations.push("no max_tokens");
  const marks = JSON.stringify(body).split('"cache_control":').length - 1;
  if (marks > 4) violations.push(`${marks} cache marks`);
  for (const tool of body.tools ?? []) {
    if (tool.input_schema?.type !== "object") violations.push(`the input of the tool ${tool.name} is not an object`);
  }
  /** @type {{ role: string, content: any[] }[]} */
  const messages = body.messages ?? [];
  if (messages[0]?.role !== "user") violations.push("the conversation does not begin with the user");
  if (messages.at(-1)?.role === "assistant" && !isPaused) violations.push("the conversation ends with the assistant");
  for (const [index, message] of messages.entries()) {
    if (message.role === messages[index - 1]?.role) violations.push(`message ${index} repeats ${message.role}`);
    if (message.content.length === 0) violations.push(`message ${index} is empty`);
    violations.push(...blockProblems(index, message.content));
    violations.push(...resultProblems(index, messages[index - 1]?.content ?? [], message.content));
  }
  violations.push(...resultProblems(messages.length, messages.at(-1)?.content ?? [], []));
  return violations;
}

/**
 * @param {number} index
 * @param {any[]} content
 */
function blockProblems(index, content) {
  const problems = [];
  if (["thinking", "redacted_thinking"].includes(content.at(-1)?.type))
    problems.push(`message ${index} ends with a thought`);
  for (const block of content) {
    if (block.type === "text" && block.text.trim() === "") problems.push(`message ${index} has a blank text`);
    if (block.type === "thinking" && block.signature !== SIGNATURE) problems.push(`message ${index}: unsigned thought`);
    if (block.type !== "tool_use") continue;
    if (!/^[a-zA-Z0-9_-]+$/.test(block.id)) problems.push(`message ${index}: bad call id`);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(block.name)) problems.push(`message ${index}: bad name of a tool`);
  }
  return problems;
}

/**
 * The results of a message's calls must be at the beginning of the next message, without other results.
 *
 * @param {number} index
 * @param {any[]} before
 * @param {any[]} content
 */
function resultProblems(index, before, content) {
  const calls = before.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  const results = content.filter(({ type }) => type === "tool_result");
  const first = content.slice(0, results.length).map(({ tool_use_id: id }) => id);
  const fits = JSON.stringify([...calls].sort()) === JSON.stringify([...first].sort());
  return fits ? [] : [`message ${index} does not begin with the results of ${calls.join(", ") || "nothing"}`];
}

module.exports = { opening, deltas, end, findViolations, findVertexViolations };
