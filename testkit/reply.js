"use strict";

/**
 * @typedef {object} ToolCall
 * @property {string} name
 * @property {object | string} input An object, or a text to send as the arguments even if it is not JSON.
 * @property {string} [id] Default: `call_` and a number that is unique in this process.
 *
 * @typedef {object} Usage As the provider counts: `input` includes `cached`, `output` includes `reasoning`.
 * @property {number} [input]
 * @property {number} [output]
 * @property {number} [cached]
 * @property {number} [reasoning]
 *
 * @typedef {object} Reply The answer of the model to one request: reasoning, then text, then tool calls.
 * @property {string} [text] The text in one delta.
 * @property {readonly string[]} [deltas] The text in these deltas.
 * @property {string} [reasoning]
 * @property {readonly ToolCall[]} [tools]
 * @property {Usage} [usage] Default: ten tokens in, five out.
 * @property {string} [finish] The reason in terms of the protocol. Default: tool calls if there are any, else the end.
 * @property {number} [status] Default: 200. With a status above 299 the answer is `body` instead of a stream.
 * @property {Readonly<Record<string, string>>} [headers] More headers of the response.
 * @property {unknown} [body] The body instead of a stream: a string unchanged, other values as JSON.
 * @property {string} [gate] Pause before the last delta, until the gate of this name is released.
 * @property {number} [delayMs] Pause of this length between two deltas.
 * @property {boolean} [cut] Break the connection after the deltas, without a finish reason and a clean end.
 * @property {string | Buffer} [raw] The bytes of the stream, which need not be valid.
 *
 * @typedef {object} RenderedReply
 * @property {number} status
 * @property {Record<string, string>} headers
 * @property {readonly Buffer[]} pieces The bytes to send, with the pauses between them.
 * @property {string | undefined} gate Blocks the last piece.
 * @property {number} delayMs
 * @property {boolean} cut
 */

/** The answer of the model if no reply is queued. */
const UNSCRIPTED = "Nothing was scripted for this request.";

let lastCall = 0;

/**
 * @typedef {object} Dialect Renders replies in one protocol, as frames of a stream.
 * @property {(reply: Reply) => string} opening
 * @property {(reply: Reply) => string[]} deltas
 * @property {(reply: Reply) => string} end
 * @property {"utf8" | "latin1"} [encoding] The encoding of the frames. Default: `utf8`.
 * @property {string} [contentType] Default: `text/event-stream`.
 */

/** @type {Dialect} */
const CHAT = {
  opening: () => frame({ delta: { role: "assistant", content: "" } }),
  deltas: deltaFrames,
  end: endFrames,
};

/**
 * Turns a reply into bytes.
 *
 * @param {Reply} reply
 * @param {Dialect} [dialect]
 * @returns {RenderedReply}
 */
function renderReply(reply, dialect = CHAT) {
  const { status = 200, headers = {}, gate, delayMs = 0, cut = false } = reply;
  const streams = status < 300 && reply.body === undefined;
  const contentType = streams ? (dialect.contentType ?? "text/event-stream") : "application/json";
  return {
    status,
    headers: { "content-type": contentType, ...headers },
    pieces: streams ? streamPieces(reply, dialect) : [renderBody(reply)],
    gate,
    delayMs,
    cut,
  };
}

/** @param {Reply} reply */
function renderBody({ status, body }) {
  const value = body === undefined ? { error: { message: `Scripted status ${status}`, type: "scripted" } } : body;
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
}

/**
 * All frames in one piece, unless the reply has a pause between its deltas.
 *
 * @param {Reply} reply
 * @param {Dialect} dialect
 */
function streamPieces(reply, { opening, deltas, end, encoding = "utf8" }) {
  if (reply.raw !== undefined) return [typeof reply.raw === "string" ? Buffer.from(reply.raw, encoding) : reply.raw];
  const frames = [opening(reply), ...deltas(reply)];
  if (!reply.cut) frames.push(frames.pop() + end(reply));
  if (reply.delayMs) return frames.map((text) => Buffer.from(text, encoding));
  const last = reply.gate === undefined ? [] : frames.splice(-1);
  return [frames.join(""), ...last].map((text) => Buffer.from(text, encoding));
}

/** @param {Reply} reply */
function deltaFrames({ reasoning, text, deltas = text === undefined ? [] : [text], tools = [] }) {
  const frames = deltas.map((content) => frame({ delta: { content } }));
  if (reasoning !== undefined) frames.unshift(frame({ delta: { reasoning_content: reasoning } }));
  for (const [index, tool] of tools.entries()) frames.push(...toolFrames(index, tool));
  return frames;
}

/**
 * A call consists of two deltas, so that a gate can be between them.
 *
 * @param {number} index
 * @param {ToolCall} call
 */
function toolFrames(index, { name, input, id = `call_${(lastCall += 1)}` }) {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const half = Math.floor(text.length / 2);
  const first = { index, id, type: "function", function: { name, arguments: text.slice(0, half) } };
  const second = { index, function: { arguments: text.slice(half) } };
  return [first, second].map((call) => frame({ delta: { tool_calls: [call] } }));
}

/** @param {Reply} reply */
function endFrames({ tools = [], finish = tools.length === 0 ? "stop" : "tool_calls", usage = {} }) {
  const { input = 10, output = 5, cached = 0, reasoning = 0 } = usage;
  const counted = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  return `${frame({ delta: {}, finish_reason: finish })}${chunk({ choices: [], usage: counted })}data: [DONE]\n\n`;
}

/** @param {object} choice */
function frame(choice) {
  return chunk({ choices: [{ index: 0, finish_reason: null, ...choice }] });
}

/** @param {object} content */
function chunk(content) {
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "m1", ...content })}\n\n`;
}

module.exports = { UNSCRIPTED, renderReply };
