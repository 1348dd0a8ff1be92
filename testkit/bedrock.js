"use strict";

// The dialect of the scripted model for ConverseStream of Amazon Bedrock. Its frames are binary, one character per byte.

const { crc32 } = require("node:zlib");

/** @typedef {import("./reply.js").Reply} Reply */

/** The signature of all reasoning. */
const SIGNATURE = "c2lnbmVk";

const encoding = /** @type {const} */ ("latin1");
const contentType = "application/vnd.amazon.eventstream";

let lastCall = 0;

const opening = () => event("messageStart", { role: "assistant" });

/**
 * One frame for each delta. A block ends with the last of its deltas.
 *
 * @param {Reply} reply
 */
function deltas({ reasoning, text, deltas: texts = text === undefined ? [] : [text], tools = [] }) {
  /** @type {string[]} */
  const frames = [];
  let index = 0;
  if (reasoning !== undefined) {
    const thought = delta(index, { reasoningContent: { text: reasoning } });
    frames.push(thought + delta(index, { reasoningContent: { signature: SIGNATURE } }) + stop(index));
    index += 1;
  }
  const last = texts.length - 1;
  const block = index;
  frames.push(...texts.map((piece, at) => delta(block, { text: piece }) + (at === last ? stop(block) : "")));
  if (texts.length > 0) index += 1;
  for (const { name, input, id = `tooluse_${(lastCall += 1)}` } of tools) {
    const start = event("contentBlockStart", {
      contentBlockIndex: index,
      start: { toolUse: { toolUseId: id, name } },
    });
    const whole = typeof input === "string" ? input : JSON.stringify(input);
    const half = Math.floor(whole.length / 2);
    frames.push(start + delta(index, { toolUse: { input: whole.slice(0, half) } }));
    frames.push(delta(index, { toolUse: { input: whole.slice(half) } }) + stop(index));
    index += 1;
  }
  return frames;
}

/** @param {Reply} reply */
function end({ tools = [], finish = tools.length > 0 ? "tool_use" : "end_turn", usage = {} }) {
  const { input = 10, output = 5, cached = 0 } = usage;
  return (
    event("messageStop", { stopReason: finish }) +
    event("metadata", {
      usage: {
        inputTokens: input - cached,
        outputTokens: output,
        totalTokens: input + output,
        cacheReadInputTokens: cached,
        cacheWriteInputTokens: 0,
      },
      metrics: { latencyMs: 1 },
    })
  );
}

/** @param {number} index @param {object} content */
function delta(index, content) {
  return event("contentBlockDelta", { contentBlockIndex: index, delta: content });
}

/** @param {number} index */
function stop(index) {
  return event("contentBlockStop", { contentBlockIndex: index });
}

/** @param {string} name @param {object} payload */
function event(name, payload) {
  return frame({ ":message-type": "event", ":event-type": name, ":content-type": "application/json" }, payload);
}

/**
 * A frame that ends the answer with a failure.
 *
 * @param {string} name
 * @param {string} message
 */
function exception(name, message) {
  return frame({ ":message-type": "exception", ":exception-type": name }, { message });
}

/** @param {Record<string, string>} headers @param {object} payload */
function frame(headers, payload) {
  const encoded = Buffer.concat(
    Object.entries(headers).map(([name, value]) =>
      Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        be16(value.length),
        Buffer.from(value),
      ]),
    ),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.concat([be32(12 + encoded.length + body.length + 4), be32(encoded.length)]);
  const start = Buffer.concat([prelude, be32(crc32(prelude)), encoded, body]);
  return Buffer.concat([start, be32(crc32(start))]).toString(encoding);
}

/** @param {number} value */
function be32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** @param {number} value */
function be16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/**
 * The violations in a request.
 *
 * @param {any} body
 * @returns {string[]}
 */
function findViolations(body) {
  if (typeof body !== "object" || body === null) return ["the body is not an object"];
  if (!Array.isArray(body.messages) || body.messages.length === 0) return ["no messages"];
  /** @type {string[]} */
  const violations = [];
  /** @type {{ role: string, content: Record<string, any>[] }[]} */
  const messages = body.messages;
  if (messages[0]?.role !== "user") violations.push("the first message is not of the user");
  if (messages.at(-1)?.role !== "user") violations.push("the last message is not of the user");
  if (messages.some(({ role }, at) => at > 0 && role === messages[at - 1]?.role)) {
    violations.push("two messages of one role stand next to each other");
  }
  for (const [at, { content }] of messages.entries()) {
    if (content.length === 0) violations.push("a message without content");
    const calls = content.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse.toolUseId]));
    if (calls.length > 0 && body.toolConfig === undefined) violations.push("calls without the configuration of tools");
    const next = messages[at + 1]?.content ?? [];
    const results = next.slice(0, calls.length).map(({ toolResult }) => toolResult?.toolUseId);
    if (calls.some((id) => !results.includes(id))) violations.push("a call without its result in the next message");
  }
  return violations;
}

module.exports = { opening, deltas, end, findViolations, event, exception, encoding, contentType };
