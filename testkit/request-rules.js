"use strict";

// Rules that every provider has for a request. Every test checks them, and so finds a request that a provider would
// refuse.

/**
 * @typedef {{ id?: unknown, function?: { name?: unknown, arguments?: unknown } }} Call
 *
 * @typedef {object} Message
 * @property {unknown} [role]
 * @property {unknown} [content]
 * @property {Call[]} [tool_calls]
 * @property {unknown} [tool_call_id]
 */

/**
 * The violations in the body of a request. Empty if every provider accepts it.
 *
 * @param {any} body
 * @returns {string[]}
 */
function findViolations(body) {
  if (typeof body !== "object" || body === null) return ["the body is not an object"];
  const violations = [];
  if (typeof body.model !== "string" || body.model === "") violations.push("no model");
  if (body.stream !== true) violations.push("stream is not true");
  violations.push(...toolViolations(body.tools ?? []));
  violations.push(...formatViolations(body.response_format));
  if (!Array.isArray(body.messages) || body.messages.length === 0) return [...violations, "no messages"];
  return [...violations, ...orderViolations(body.messages), ...callViolations(body.messages)];
}

/** @param {any} format */
function formatViolations(format) {
  if (format === undefined) return [];
  if (format?.type !== "json_schema") return ["the format of the answer is not json_schema"];
  const { name, schema } = format.json_schema ?? {};
  const violations = [];
  if (!isName(name)) violations.push(`the format of the answer has the invalid name ${JSON.stringify(name)}`);
  if (schema?.type !== "object") violations.push("the format of the answer is not an object");
  return violations;
}

/** @param {any[]} tools */
function toolViolations(tools) {
  const names = tools.map((tool) => tool?.function?.name);
  const violations = [];
  if (new Set(names).size !== names.length) violations.push("two tools have the same name");
  for (const tool of tools) {
    if (!isName(tool?.function?.name))
      violations.push(`a tool has the invalid name ${JSON.stringify(tool?.function?.name)}`);
    if (tool?.function?.parameters?.type !== "object") violations.push("the input of a tool is not an object");
  }
  return violations;
}

/**
 * A system message may be the first message. The next message is from the user. The last message is from the user or a
 * tool, and an assistant message never follows another.
 *
 * @param {Message[]} messages
 */
function orderViolations(messages) {
  const violations = [];
  const roles = messages.map(({ role }) => role);
  const opening = roles[0] === "system" || roles[0] === "developer" ? 1 : 0;
  if (roles[opening] !== "user") violations.push(`the conversation begins with ${roles[opening]}`);
  if (!["user", "tool"].includes(String(roles.at(-1)))) violations.push(`the conversation ends with ${roles.at(-1)}`);
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    const known = ["user", "assistant", "tool"].includes(String(role)) || index < opening;
    if (!known) violations.push(`message ${index} has the unexpected role ${role}`);
    if (role === "assistant" && roles[index - 1] === "assistant") violations.push(`message ${index} repeats ${role}`);
    if (!hasContent(message)) violations.push(`message ${index} (${role}) is empty`);
  }
  return violations;
}

/** @param {Message} message */
function hasContent({ role, content, tool_calls: calls }) {
  if (typeof content === "string" || (Array.isArray(content) && content.length > 0)) return true;
  return role === "assistant" && content === null && (calls?.length ?? 0) > 0;
}

/**
 * Every call has exactly one result. The results directly follow the message with the calls.
 *
 * @param {Message[]} messages
 */
function callViolations(messages) {
  const violations = [];
  /** @type {Set<unknown>} */
  let open = new Set();
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id)) violations.push(`message ${index} is the result of no call`);
      continue;
    }
    if (open.size > 0) violations.push(`message ${index} comes before the results of ${[...open].join(", ")}`);
    const calls = message.tool_calls ?? [];
    open = new Set(calls.map(({ id }) => id));
    if (open.size !== calls.length) violations.push(`message ${index} has two calls with one id`);
    violations.push(...calls.flatMap((call) => callProblems(index, call)));
  }
  if (open.size > 0) violations.push(`the calls ${[...open].join(", ")} have no results`);
  return violations;
}

/**
 * @param {number} index
 * @param {Call} call
 */
function callProblems(index, call) {
  const problems = [];
  if (typeof call.id !== "string" || call.id === "") problems.push(`a call of message ${index} has no id`);
  if (!isName(call.function?.name))
    problems.push(`a call of message ${index} has the invalid name ${call.function?.name}`);
  if (!isObjectText(call.function?.arguments)) problems.push(`arguments of message ${index} are not an object`);
  return problems;
}

/** @param {unknown} name */
function isName(name) {
  return typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name);
}

/** @param {unknown} text */
function isObjectText(text) {
  try {
    const value = JSON.parse(/** @type {string} */ (text));
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

module.exports = { findViolations };
