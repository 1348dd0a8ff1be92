import { shapes } from "../generated/operations.js";
import { checkMembers, checkRequestOptions } from "../members.js";
import { invalidRequest } from "../shape.js";
import type { ModelRef } from "../index.js";
import type { Shape } from "../operation.js";
import type { RunInput } from "./types.js";

const MEMBERS: Readonly<Record<keyof RunInput, Shape>> = {
  sessionID: null,
  prompt: shapes.PromptInput,
  id: null,
  agent: null,
  model: shapes.ModelRef,
  system: null,
  tools: null,
  variant: null,
  output: null,
  delivery: null,
  location: shapes.LocationRef,
  unanswered: { denyAfterMs: null },
  silentAfterMs: null,
};

// Timers take 31 bits. A longer delay would be no delay.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * Checks an input before a session is created. Its operations would refuse it too late, or not at all. Throws the
 * tagged failure `InvalidRequestError`.
 *
 * @param input The input of a caller that may not use TypeScript.
 */
export function readInput(input: RunInput, options: unknown): { model: ModelRef | undefined } {
  checkRequestOptions("sessions.run", options);
  if (typeof input !== "object" || input === null) {
    throw invalidRequest('sessions.run takes an object: write run({ prompt: "..." })', "prompt");
  }
  // The schema of the output may be an object of a library.
  checkMembers("sessions.run", { ...input, output: undefined }, MEMBERS);
  checkPrompt(input.prompt);
  checkUnanswered(input.unanswered);
  checkSilentAfter(input.silentAfterMs);
  return { model: readModel(input.model) };
}

function checkPrompt(prompt: unknown) {
  if (typeof prompt === "string") return;
  if (typeof prompt === "object" && prompt !== null && "text" in prompt) return;
  throw invalidRequest('prompt must be a text, or an object such as { text: "...", files: [] }', "prompt");
}

function checkUnanswered(unanswered: unknown) {
  if (unanswered === undefined || unanswered === "wait" || unanswered === "deny") return;
  const delay = (unanswered as { denyAfterMs?: unknown } | null)?.denyAfterMs;
  if (typeof delay === "number" && Number.isInteger(delay) && delay >= 1 && delay <= LONGEST_DELAY_MS) return;
  const expected = `"wait", "deny" or { denyAfterMs } with a whole number from 1 to ${LONGEST_DELAY_MS}`;
  throw invalidRequest(`unanswered must be ${expected}`, "unanswered");
}

function checkSilentAfter(delay: unknown) {
  if (delay === undefined || delay === false) return;
  if (Number.isInteger(delay) && Number(delay) > 0 && Number(delay) <= LONGEST_DELAY_MS) return;
  throw invalidRequest(`silentAfterMs must be false or an integer from 1 to ${LONGEST_DELAY_MS}`, "silentAfterMs");
}

function readModel(model: RunInput["model"]): ModelRef | undefined {
  if (typeof model !== "string") return model;
  const slash = model.indexOf("/");
  if (slash > 0 && slash < model.length - 1) return { providerID: model.slice(0, slash), id: model.slice(slash + 1) };
  const message = `model must be "provider/model", such as "openai/gpt-4.1-mini", not ${JSON.stringify(model)}`;
  throw invalidRequest(message, "model");
}
