// `resumeEvents`: for clients, for hosts, and for other objects with the required method.

import { resumeEvents } from "opencode-embedded/client";
import type {
  ClientError,
  EventsRetry,
  OpenCodeClient,
  ResumableClient,
  ServiceUnavailableError,
  SessionDurableEvent,
} from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

holds<Same<ReturnType<typeof resumeEvents>, AsyncIterable<SessionDurableEvent>>>();
holds<Same<EventsRetry["failure"], ClientError | ServiceUnavailableError>>();
holds<Same<EventsRetry["after"], number | undefined>>();

export async function follow(client: OpenCodeClient, sessionID: string, signal: AbortSignal): Promise<number> {
  let last = 0;
  const onRetry = ({ retry, delayMs, failure }: EventsRetry): string => `${retry} ${delayMs} ${failure.message}`;
  const pace = { minDelayMs: 100, maxDelayMs: 5000, maxRetries: Infinity, onRetry };
  for await (const event of resumeEvents(client, { sessionID, after: 3, signal, headers: { a: "b" }, ...pace })) {
    if (event.type === "session.next.text.ended") void event.data.text;
    last = event.durable.seq;
  }
  return last;
}

async function* noEvents(after: number | undefined): AsyncIterable<SessionDurableEvent> {
  if (after === undefined) yield* [];
}

export const own: ResumableClient = { sessions: { events: ({ after }) => noEvents(after) } };

// @ts-expect-error: a session is required
resumeEvents(own, {});
// @ts-expect-error: a sequence is a number
resumeEvents(own, { sessionID: "ses_1", after: "1" });
// @ts-expect-error: unknown setting
resumeEvents(own, { sessionID: "ses_1", retries: 1 });
// @ts-expect-error: a client has sessions
resumeEvents({}, { sessionID: "ses_1" });
