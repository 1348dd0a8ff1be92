"use strict";

const { ClientError } = require("./errors.js");
const { checkOptions } = require("./members.js");
const { createHeaders } = require("./request.js");
const { isPassing, retryDelay } = require("./retry.js");
const { createStream } = require("./stream.js");

/**
 * @typedef {import("./index.js").ResumableClient} ResumableClient
 * @typedef {import("./index.js").ResumeEventsOptions} ResumeEventsOptions
 * @typedef {import("./index.js").SessionDurableEvent} SessionDurableEvent
 */

/**
 * @template T
 * @typedef {import("./internal.js").Feed<T>} Feed
 */

/** @type {Readonly<Record<keyof ResumeEventsOptions, null>>} */
const OPTIONS = {
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

// Timers take 31 bits; a longer delay would be none.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The durable events of a session over as many connections as it takes.
 *
 * @param {ResumableClient} client
 * @param {ResumeEventsOptions} options
 * @returns {AsyncIterable<SessionDurableEvent>}
 */
function resumeEvents(client, options) {
  checkOptions("resumeEvents", options, OPTIONS);
  const settings = { ...options };
  const pace = readPace(settings);
  // Headers that cannot be sent would look like a connection that cannot be made.
  createHeaders(settings.headers);
  return createStream(async () => new ResumedEvents(client, settings, pace), settings.signal ?? undefined);
}

/**
 * @param {ResumeEventsOptions} options
 */
function readPace({ minDelayMs, maxDelayMs, maxRetries = Infinity }) {
  const min = minDelayMs ?? Math.min(MIN_DELAY_MS, maxDelayMs ?? MIN_DELAY_MS);
  const max = maxDelayMs ?? Math.max(MAX_DELAY_MS, min);
  const isDelay = (/** @type {unknown} */ value) =>
    typeof value === "number" && value >= 1 && value <= LONGEST_TIMER_MS;
  if (!isDelay(min)) throw refusal("minDelayMs", `a number from 1 to ${LONGEST_TIMER_MS}`, min);
  if (!isDelay(max) || max < min) throw refusal("maxDelayMs", `a number from ${min} to ${LONGEST_TIMER_MS}`, max);
  if (maxRetries !== Infinity && !(Number.isSafeInteger(maxRetries) && maxRetries >= 0)) {
    throw refusal("maxRetries", "a whole number from 0 on, or Infinity", maxRetries);
  }
  return { min, max, maxRetries };
}

/**
 * @param {string} option
 * @param {string} expected
 * @param {unknown} value
 */
function refusal(option, expected, value) {
  return new TypeError(`resumeEvents needs ${expected} as ${option}, got ${String(value)}`);
}

/** @implements {Feed<SessionDurableEvent>} */
class ResumedEvents {
  #client;
  #options;
  #pace;
  /** The sequence of the last event, after which the next connection goes on. */
  #after;
  /** Connections since the last event that failed. */
  #failures = 0;
  /** @type {SessionDurableEvent | undefined} */
  #event = undefined;
  /** @type {AsyncIterator<SessionDurableEvent> | undefined} */
  #connection = undefined;
  #cancelled = false;
  #stopWaiting = () => {};

  /**
   * @param {ResumableClient} client
   * @param {ResumeEventsOptions} options
   * @param {ReturnType<typeof readPace>} pace
   */
  constructor(client, options, pace) {
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

  /** @param {IteratorResult<SessionDurableEvent, unknown>} result */
  #accept(result) {
    // The stream has no end of its own: something between here and there closed it.
    if (result.done) throw new ClientError("Transport", { cause: new Error("The stream was closed") });
    const seq = result.value?.durable?.seq;
    if (!Number.isSafeInteger(seq)) {
      throw new ClientError("MalformedResponse", { cause: new Error("An event without a sequence") });
    }
    this.#failures = 0;
    // Whoever answers from the beginning, whatever was asked, repeats what is known.
    if (this.#after !== undefined && seq <= this.#after) return;
    this.#after = seq;
    this.#event = result.value;
  }

  /** @param {unknown} failure */
  async #retryAfter(failure) {
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

  /** @param {number} delayMs */
  #wait(delayMs) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }
}

module.exports = { resumeEvents };
