"use strict";

const { shapes } = require("../generated/operations.js");
const { checkMembers, checkRequestOptions } = require("../members.js");
const { invalidRequest } = require("../shape.js");

/**
 * @typedef {import("../run.js").RunInput} RunInput
 * @typedef {import("../index.js").ModelRef} ModelRef
 */

/** @type {Readonly<Record<keyof RunInput, import("../internal.js").Shape>>} */
const MEMBERS = {
  sessionID: null,
  prompt: shapes.PromptInput,
  id: null,
  agent: null,
  model: shapes.ModelRef,
  delivery: null,
  location: shapes.LocationRef,
  unanswered: { denyAfterMs: null },
};

// Timers take 31 bits; a longer delay would be none.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * Checks what the operations of a run would refuse too late, or not at all: a session must not be created for a prompt
 * that is none. Throws the tagged failure `InvalidRequestError`.
 *
 * @param {RunInput} input From a caller that may not use TypeScript.
 * @param {unknown} options
 * @returns {{ model: ModelRef | undefined }}
 */
function readInput(input, options) {
  checkRequestOptions("sessions.run", options);
  if (typeof input !== "object" || input === null) {
    throw invalidRequest('sessions.run takes an object: write run({ prompt: "..." })', "prompt");
  }
  checkMembers("sessions.run", input, MEMBERS);
  checkPrompt(input.prompt);
  checkUnanswered(input.unanswered);
  return { model: readModel(input.model) };
}

/** @param {unknown} prompt */
function checkPrompt(prompt) {
  if (typeof prompt === "string") return;
  if (typeof prompt === "object" && prompt !== null && "text" in prompt) return;
  throw invalidRequest('prompt must be a text, or an object such as { text: "...", files: [] }', "prompt");
}

/** @param {unknown} unanswered */
function checkUnanswered(unanswered) {
  if (unanswered === undefined || unanswered === "wait" || unanswered === "deny") return;
  const delay = /** @type {{ denyAfterMs?: unknown } | null} */ (unanswered)?.denyAfterMs;
  if (typeof delay === "number" && Number.isInteger(delay) && delay >= 1 && delay <= LONGEST_DELAY_MS) return;
  const expected = `"wait", "deny" or { denyAfterMs } with a whole number from 1 to ${LONGEST_DELAY_MS}`;
  throw invalidRequest(`unanswered must be ${expected}`, "unanswered");
}

/**
 * @param {RunInput["model"]} model
 * @returns {ModelRef | undefined}
 */
function readModel(model) {
  if (typeof model !== "string") return model;
  const slash = model.indexOf("/");
  if (slash > 0 && slash < model.length - 1) return { providerID: model.slice(0, slash), id: model.slice(slash + 1) };
  const message = `model must be "provider/model", such as "openai/gpt-4.1-mini", not ${JSON.stringify(model)}`;
  throw invalidRequest(message, "model");
}

exports.readInput = readInput;
