import { joinSources } from "../cited-sources.js";
import { HOST_CLOSED } from "../failures.js";
import { isSessionNotFoundError } from "../generated/guards.js";
import type { OpenCodeClient, SessionMessage } from "../index.js";
import type { RequestOptions } from "../types.js";
import type { Activity } from "./activity.js";
import type { Begun } from "./run.js";
import type { RunFailure, RunResult } from "./types.js";

/** State of a run that the log does not contain. */
interface State {
  /** The failure that ended the reading of the log. */
  lost: unknown;
  /** True if the host has closed. */
  isDisposed: boolean;
  /** The failure that the session reported. */
  failure: RunFailure | undefined;
  isAborted: boolean;
  /** The reason for which the run refused a request. */
  denial: string | undefined;
  /** The failure of a run that stopped the work because of its silence. */
  silence: RunFailure | undefined;
}

const CLOSED = "The host was closed";
const REMOVED = "The session was removed";
const INTERRUPTED = "The session was interrupted";

// Messages that are read at the same time.
const AT_ONCE = 8;

export async function conclude(
  client: OpenCodeClient,
  options: RequestOptions,
  { sessionID, messageID }: Begun,
  activity: Activity,
  state: State,
): Promise<RunResult> {
  const outcome = outcomeOf(activity, state);
  const messages = await readMessages(client, options, sessionID, activity.messageIDs);
  return {
    ...outcome,
    ...(outcome.outcome !== "completed" && { reason: outcome.reason ?? outcome.error?.message ?? INTERRUPTED }),
    ...(activity.finish !== undefined && { finish: activity.finish }),
    sessionID,
    messageID,
    text: activity.text,
    messages,
    sources: joinSources(messages),
    usage: activity.usage,
    cost: activity.cost,
  };
}

function outcomeOf(
  activity: Activity,
  { lost, isDisposed, failure, isAborted, denial, silence }: State,
): Pick<RunResult, "outcome" | "error" | "reason"> {
  const { end } = activity;
  if (silence !== undefined && !isAborted && isStopped(end?.outcome)) return { outcome: "failed", error: silence };
  if (end?.outcome === "not-started" && isAborted) return { outcome: "interrupted", reason: "The run was aborted" };
  if (end !== undefined && end.outcome !== "declined") return end;
  if (end !== undefined || activity.isDeclined)
    return { outcome: "declined", reason: denial ?? "A request was rejected" };
  if (isDisposed) return { outcome: "interrupted", reason: CLOSED };
  if (lost !== undefined) return outcomeOfLoss(lost);
  if (!activity.isPromoted) return notStarted(failure, isAborted);
  if (activity.isInterrupted || failure === undefined) return { outcome: "interrupted" };
  return { outcome: "failed", error: failure };
}

/** True for the ends that an interruption or a withdrawal has. */
function isStopped(outcome: RunResult["outcome"] | undefined) {
  return outcome === undefined || outcome === "interrupted" || outcome === "not-started";
}

function notStarted(
  failure: RunFailure | undefined,
  isAborted: boolean,
): Pick<RunResult, "outcome" | "error" | "reason"> {
  if (failure !== undefined) return { outcome: "not-started", reason: failure.message, error: failure };
  if (isAborted) return { outcome: "interrupted", reason: "The run was aborted" };
  return {
    outcome: "not-started",
    reason: "The session was interrupted before it took the prompt, which stays pending",
  };
}

function outcomeOfLoss(lost: unknown): Pick<RunResult, "outcome" | "error" | "reason"> {
  const { message, cause } = lost as { message: string; cause?: { code?: unknown } };
  if (cause?.code === HOST_CLOSED) return { outcome: "interrupted", reason: CLOSED };
  if (isSessionNotFoundError(lost)) return { outcome: "interrupted", reason: REMOVED };
  return { outcome: "failed", error: { message, cause: { kind: "transport", retryable: true } } };
}

async function readMessages(
  client: OpenCodeClient,
  options: RequestOptions,
  sessionID: string,
  messageIDs: readonly string[],
) {
  const messages: SessionMessage[] = [];
  for (let at = 0; at < messageIDs.length; at += AT_ONCE) {
    const reading = messageIDs.slice(at, at + AT_ONCE).map((messageID) =>
      // Leaves out a message that was reverted since, or that a closed host cannot read.
      client.sessions.message({ sessionID, messageID }, options).catch(() => undefined),
    );
    messages.push(...(await Promise.all(reading)).filter((message) => message !== undefined));
  }
  return messages;
}
