"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.conclude = conclude;
const failures_js_1 = require("../failures.js");
const CLOSED = "The host was closed";
const INTERRUPTED = "The session was interrupted";
// Messages that are read at the same time.
const AT_ONCE = 8;
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
function outcomeOf(activity, { lost, isDisposed, failure, isAborted, denial }) {
    const { end } = activity;
    if (end?.outcome === "not-started" && isAborted)
        return { outcome: "interrupted", reason: "The run was aborted" };
    if (end !== undefined && end.outcome !== "declined")
        return end;
    if (end !== undefined || activity.isDeclined)
        return { outcome: "declined", reason: denial ?? "A request was rejected" };
    if (isDisposed)
        return { outcome: "interrupted", reason: CLOSED };
    if (lost !== undefined)
        return outcomeOfLoss(lost);
    if (!activity.isPromoted)
        return notStarted(failure, isAborted);
    if (activity.isInterrupted || failure === undefined)
        return { outcome: "interrupted" };
    if (failure.cause?.kind === "step-limit")
        return { outcome: "step-limit", reason: failure.message };
    return { outcome: "failed", error: failure };
}
function notStarted(failure, isAborted) {
    if (failure !== undefined)
        return { outcome: "not-started", reason: failure.message, error: failure };
    if (isAborted)
        return { outcome: "interrupted", reason: "The run was aborted" };
    return { outcome: "not-started", reason: "The session was stopped before it took the prompt, which stays pending" };
}
function outcomeOfLoss(lost) {
    const { message, cause } = lost;
    if (cause?.code === failures_js_1.HOST_CLOSED)
        return { outcome: "interrupted", reason: CLOSED };
    return { outcome: "failed", error: { message, cause: { kind: "transport", retryable: true } } };
}
async function readMessages(client, options, sessionID, messageIDs) {
    const messages = [];
    for (let at = 0; at < messageIDs.length; at += AT_ONCE) {
        const reading = messageIDs.slice(at, at + AT_ONCE).map((messageID) => 
        // Leaves out a message that was reverted since, or that a closed host cannot read.
        client.sessions.message({ sessionID, messageID }, options).catch(() => undefined));
        messages.push(...(await Promise.all(reading)).filter((message) => message !== undefined));
    }
    return messages;
}
