import { ClientError } from "./errors.js";
import { checkOptions } from "./members.js";
import { createHeaders } from "./request.js";
import { isPassing, retryDelay } from "./retry.js";
import { createStream } from "./stream.js";
import type { SessionDurableEvent } from "./generated/types.js";
import type { ResumableClient, ResumeEventsOptions } from "./types.js";
import type { Feed } from "./internal.js";

const OPTIONS: Readonly<Record<keyof ResumeEventsOptions, null>> = {
  sessionID: null,
  after: null,
  signal: null,
  headers: null,
  minDelayMs: null,
  maxDelayMs: null,
  maxRetries: null,
  onRetry: null,
};

const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;

// Timers take 31 bits. A longer delay would be no delay.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Iterates over the durable events of a session like `sessions.events`, over as many connections as needed. After a
 * break it continues after the last delivered event, so no event is missing and none is repeated.
 *
 * It reconnects after a failure that may pass:
 *
 * - `ClientError("Transport")`: no connection, a broken connection, or a closed connection, because the stream itself
 *   never ends;
 * - `ClientError("UnexpectedStatus")` and `ClientError("UnsupportedContentType")` with status 408, 425, 429 or 5xx,
 *   which gateways send for an unavailable server;
 * - `ServiceUnavailableError`.
 *
 * Every other failure ends the iteration, and `next()` rejects with it: all other tagged failures, such as
 * `SessionNotFoundError` and `UnauthorizedError`, `MalformedResponse`, a failure that the server reports in the
 * middle of the stream, and a closed host in this process.
 *
 * It does nothing before the first `next()`, and every iterator has its own connections. `return()` closes it at
 * once, also during a delay.
 *
 * @example
 * ```ts
 * for await (const event of resumeEvents(opencode, { sessionID, after: lastSequence })) {
 *   await record(event)
 * }
 * ```
 *
 * @throws TypeError if an option is unknown, a delay or a count is out of bounds, or a header is not allowed.
 */
export function resumeEvents(
  client: ResumableClient,
  options: ResumeEventsOptions,
): AsyncIterable<SessionDurableEvent> {
  checkOptions("resumeEvents", options, OPTIONS);
  const settings = { ...options };
  const pace = readPace(settings);
  // A wrong header would otherwise look like a failed connection.
  createHeaders(settings.headers);
  return createStream(async () => new ResumedEvents(client, settings, pace), settings.signal ?? undefined);
}

function readPace({ minDelayMs, maxDelayMs, maxRetries = Infinity }: ResumeEventsOptions) {
  const min = minDelayMs ?? Math.min(MIN_DELAY_MS, maxDelayMs ?? MIN_DELAY_MS);
  const max = maxDelayMs ?? Math.max(MAX_DELAY_MS, min);
  const isDelay = (value: unknown) => typeof value === "number" && value >= 1 && value <= LONGEST_TIMER_MS;
  if (!isDelay(min)) throw refusal("minDelayMs", `a number from 1 to ${LONGEST_TIMER_MS}`, min);
  if (!isDelay(max) || max < min) throw refusal("maxDelayMs", `a number from ${min} to ${LONGEST_TIMER_MS}`, max);
  if (maxRetries !== Infinity && !(Number.isSafeInteger(maxRetries) && maxRetries >= 0)) {
    throw refusal("maxRetries", "a whole number from 0 on, or Infinity", maxRetries);
  }
  return { min, max, maxRetries };
}

function refusal(option: string, expected: string, value: unknown) {
  return new TypeError(`resumeEvents needs ${expected} as ${option}, got ${String(value)}`);
}

class ResumedEvents implements Feed<SessionDurableEvent> {
  #client;
  #options;
  #pace;
  /** The sequence of the last event. The next connection continues after it. */
  #after;
  /** Failed connections since the last event. */
  #failures = 0;
  #event: SessionDurableEvent | undefined = undefined;
  #connection: AsyncIterator<SessionDurableEvent> | undefined = undefined;
  #cancelled = false;
  #stopWaiting = () => {};

  constructor(client: ResumableClient, options: ResumeEventsOptions, pace: ReturnType<typeof readPace>) {
    this.#client = client;
    this.#options = options;
    this.#pace = pace;
    this.#after = options.after;
  }

  take() {
    const event = this.#event;
    this.#event = undefined;
    return event;
  }

  async more() {
    while (!this.#cancelled && this.#event === undefined) {
      try {
        this.#accept(await this.#read());
      } catch (error) {
        if (!this.#cancelled) await this.#retryAfter(error);
      }
    }
    return !this.#cancelled;
  }

  cancel() {
    this.#cancelled = true;
    this.#disconnect();
    this.#stopWaiting();
  }

  #read() {
    this.#connection ??= this.#connect()[Symbol.asyncIterator]();
    return this.#connection.next();
  }

  #connect() {
    const { sessionID, headers } = this.#options;
    return this.#client.sessions.events({ sessionID, after: this.#after }, { headers });
  }

  #accept(result: IteratorResult<SessionDurableEvent, unknown>) {
    // The stream never ends by itself, so a gateway or the server has closed it.
    if (result.done) throw new ClientError("Transport", { cause: new Error("The stream was closed") });
    const seq = result.value?.durable?.seq;
    if (!Number.isSafeInteger(seq)) {
      throw new ClientError("MalformedResponse", { cause: new Error("An event without a sequence") });
    }
    this.#failures = 0;
    // A server that ignores `after` repeats known events.
    if (this.#after !== undefined && seq <= this.#after) return;
    this.#after = seq;
    this.#event = result.value;
  }

  async #retryAfter(failure: unknown) {
    this.#disconnect();
    this.#failures += 1;
    if (!isPassing(failure) || this.#failures > this.#pace.maxRetries) throw failure;
    const delayMs = retryDelay(this.#pace, this.#failures);
    this.#options.onRetry?.({ failure, retry: this.#failures, delayMs, after: this.#after });
    // The caller may have ended the iteration just now.
    if (!this.#cancelled) await this.#wait(delayMs);
  }

  #disconnect() {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.return?.().catch(() => {});
  }

  #wait(delayMs: number) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }
}
