"use strict";

// The dialect of the scripted model for Google's Gemini.

/** @typedef {import("./reply.js").Reply} Reply */

/** The signature of every thought and call. */
const SIGNATURE = "c2lnbmVk";

const opening = () => "";

/**
 * One frame for each delta. Calls are in one frame, as the server sends them.
 *
 * @param {Reply} reply
 */
function deltas({ reasoning, text, deltas: texts = text === undefined ? [] : [text], tools = [] }) {
  /** @type {object[][]} */
  const parts = texts.map((delta) => [{ text: delta }]);
  if (reasoning !== undefined) parts.unshift([{ text: reasoning, thought: true, thoughtSignature: SIGNATURE }]);
  const calls = tools.map(({ name, input, id }) => ({
    functionCall: { name, args: input, ...(id === undefined ? {} : { id }) },
    thoughtSignature: SIGNATURE,
  }));
  if (calls.length > 0) parts.push(calls);
  return parts.map((content) => frame({ candidates: [{ index: 0, content: { role: "model", parts: content } }] }));
}

/** @param {Reply} reply */
function end({ finish = "STOP", usage = {} }) {
  const { input = 10, output = 5, cached = 0, reasoning = 0 } = usage;
  return frame({
    candidates: [{ index: 0, finishReason: finish, content: { role: "model", parts: [{ text: "" }] } }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output - reasoning,
      cachedContentTokenCount: cached,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + output,
    },
  });
}

/** @param {object} content */
function frame(content) {
  return `data: ${JSON.stringify({ modelVersion: "m1", ...content })}\n\n`;
}

/**
 * The violations in a request.
 *
 * @param {any} body
 * @returns {string[]}
 */
function findViolations(body) {
  if (typeof body !== "object" || body === null) return ["the body is not an object"];
  if (!Array.isArray(body.contents) || body.contents.length === 0) return ["no contents"];
  const violations = [];
  /** @type {string[]} */
  const roles = body.contents.map((/** @type {{ role: string }} */ content) => content.role);
  if (roles[0] !== "user") violations.push("the first content is not of the user");
  if (roles.at(-1) !== "user") violations.push("the last content is not of the user");
  if (roles.some((role, at) => at > 0 && role === "model" && roles[at - 1] === "model")) {
    violations.push("two answers stand next to each other");
  }
  if (body.contents.some((/** @type {{ parts: unknown[] }} */ content) => content.parts.length === 0)) {
    violations.push("a content without parts");
  }
  return violations;
}

module.exports = { opening, deltas, end, findViolations };
