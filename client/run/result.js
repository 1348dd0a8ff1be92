"use strict";

const { HOST_CLOSED } = require("../errors.js");

/**
 * @typedef {import("../index.js").OpenCodeClient} OpenCodeClient
 * @typedef {import("../index.js").SessionMessage} SessionMessage
 * @typedef {import("../types.js").RequestOptions} RequestOptions
 * @typedef {import("../run.js").RunFailure} RunFailure
 * @typedef {import("../run.js").RunResult} RunResult
 * @typedef {import("./activity.js").Activity} Activity
 *
 * @typedef {object} State What the log does not say.
 * @property {unknown} lost Why the log could not be read to the end of the work.
 * @property {boolean} isDisposed Whether the host has closed.
 * @property {RunFailure | undefined} failure What the session said of its own failure.
 * @property {boolean} isAborted
 * @property {string | undefined} denial Why the run refused a request itself.
 */

const CLOSED = "The host was closed";
const INTERRUPTED = "The session was interrupted";

// Messages that are read at the same time.
const AT_ONCE = 8;

/**
 * @param {OpenCodeClient} client
 * @param {RequestOptions} options
 * @param {import("./run.js").Begun} begun
 * @param {Activity} activity
 * @param {State} state
 * @returns {Promise<RunResult>}
 */
async function conclude(client, options, { sessionID, messageID }, activity, state) {
  const outcome = outcomeOf(activity, state);
  return {
    ...outcome,
    ...(outcome.outcome !== "completed" && { reason: outcome.reason ?? outcome.error?.message ?? INTERRUPTED }),
    sessionID,
    messageID,
    text: activity.text,
    messages: await readMessages(client, options, sessionID, activity.messageIDs),
    usage: activity.usage,
    cost: activity.cost,
  };
}

/**
 * @param {Activity} activity
 * @param {State} state
 * @returns {Pick<RunResult, "outcome" | "error" | "reason">}
 */
function outcomeOf(activity, { lost, isDisposed, failure, isAborted, denial }) {
  const { end } = activity;
  if (end?.outcome === "not-started" && isAborted) return { outcome: "interrupted", reason: "The run was aborted" };
  if (end !== undefined && end.outcome !== "declined") return end;
  if (end !== undefined || activity.isDeclined)
    return { outcome: "declined", reason: denial ?? "A request was rejected" };
  if (isDisposed) return { outcome: "interrupted", reason: CLOSED };
  if (lost !== undefined) return outcomeOfLoss(lost);
  if (!activity.isPromoted) return notStarted(failure, isAborted);
  if (activity.isInterrupted || failure === undefined) return { outcome: "interrupted" };
  if (failure.cause?.kind === "step-limit") return { outcome: "step-limit", reason: failure.message };
  return { outcome: "failed", error: failure };
}

/**
 * @param {RunFailure | undefined} failure
 * @param {boolean} isAborted
 * @returns {Pick<RunResult, "outcome" | "error" | "reason">}
 */
function notStarted(failure, isAborted) {
  if (failure !== undefined) return { outcome: "not-started", reason: failure.message, error: failure };
  if (isAborted) return { outcome: "interrupted", reason: "The run was aborted" };
  return { outcome: "not-started", reason: "The session was stopped before it took the prompt, which stays pending" };
}

/**
 * @param {unknown} lost
 * @returns {Pick<RunResult, "outcome" | "error" | "reason">}
 */
function outcomeOfLoss(lost) {
  const { message, cause } = /** @type {{ message: string, cause?: { code?: unknown } }} */ (lost);
  if (cause?.code === HOST_CLOSED) return { outcome: "interrupted", reason: CLOSED };
  return { outcome: "failed", error: { message, cause: { kind: "transport", retryable: true } } };
}

/**
 * @param {OpenCodeClient} client
 * @param {RequestOptions} options
 * @param {string} sessionID
 * @param {readonly string[]} messageIDs
 */
async function readMessages(client, options, sessionID, messageIDs) {
  /** @type {SessionMessage[]} */
  const messages = [];
  for (let at = 0; at < messageIDs.length; at += AT_ONCE) {
    const reading = messageIDs.slice(at, at + AT_ONCE).map((messageID) =>
      // One that was reverted since, or that a closed host cannot read, is left out.
      client.sessions.message({ sessionID, messageID }, options).catch(() => undefined),
    );
    messages.push(...(await Promise.all(reading)).filter((message) => message !== undefined));
  }
  return messages;
}

module.exports = { conclude };
