"use strict";

const { onAbort } = require("../abort.js");
const { ClientError } = require("../errors.js");
const { resumeEvents } = require("../resume.js");
const { isPassing } = require("../retry.js");
const { Activity } = require("./activity.js");
const { OpenBlocks } = require("./blocks.js");
const { deferred } = require("./deferred.js");
const { readInput } = require("./input.js");
const { PendingRequests } = require("./requests.js");
const { conclude } = require("./result.js");

/**
 * @typedef {import("../index.js").OpenCodeClient} OpenCodeClient
 * @typedef {import("../index.js").OpenCodeEvent} OpenCodeEvent
 * @typedef {import("../types.js").RequestOptions} RequestOptions
 * @typedef {import("../run.js").RunInput} RunInput
 * @typedef {import("../run.js").RunFailure} RunFailure
 * @typedef {import("../run.js").RunResult} RunResult
 * @typedef {import("../run.js").RunNeedsInput} RunNeedsInput
 * @typedef {import("../run.js").RunUnanswered} RunUnanswered
 * @typedef {{ sessionID: string, messageID: string, admittedSeq: number, isRepeated: boolean }} Begun
 */

// In a row without an event: three to five minutes.
const MAX_RETRIES = 30;

// Before a server that could not say whether the session works is asked again.
const ASK_AGAIN_MS = 1_000;

/** One prompt, from its admission to an outcome. */
class Run {
  #client;
  #live;
  #input;
  #options;
  #signal;
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** Fires when the session may have stopped working. */
  #stopped = deferred();
  /** @type {RunFailure | undefined} What the session said last of its own failure, which no event of the log says. */
  #failure = undefined;
  #isAborted = false;
  /** @type {string | undefined} Known before the prompt is admitted. */
  #sessionID = undefined;

  blocks = new OpenBlocks();
  requests;
  /** The host has closed: it answers no further request. */
  isDisposed = false;
  /** @type {{ seq: number, result: RunResult } | undefined} */
  ended = undefined;

  /**
   * @param {OpenCodeClient} client
   * @param {import("./live.js").LiveEvents} live
   * @param {RunInput} input
   * @param {RequestOptions} options
   * @param {(kind: RunNeedsInput["kind"]) => RunUnanswered} unanswered
   */
  constructor(client, live, input, options, unanswered) {
    this.#client = client;
    this.#live = live;
    this.#input = input;
    this.#options = { headers: options.headers ?? undefined };
    this.#signal = options.signal ?? undefined;
    this.requests = new PendingRequests(client, this.#options, unanswered, () => this.#changed());
    const release = this.#signal === undefined ? () => {} : onAbort(this.#signal, () => void this.abort());
    this.begun = this.#begin(options);
    this.result = this.begun
      .then((begun) => this.#follow(begun))
      .finally(() => {
        release();
        this.#live.leave(this.#listener);
        this.requests.stop();
        this.#changed();
      });
    // A caller that does not look at them must not end its process by it.
    this.begun.catch(() => {});
    this.result.catch(() => {});
  }

  /** @param {() => void} notify Called when there is more to collect. */
  watch(notify) {
    this.#watchers.add(notify);
  }

  /** @param {() => void} notify */
  unwatch(notify) {
    this.#watchers.delete(notify);
  }

  /**
   * The durable events from the admission of the prompt on.
   *
   * @param {Begun} begun
   */
  events({ sessionID, admittedSeq }) {
    const { headers } = this.#options;
    return resumeEvents(this.#client, { sessionID, after: admittedSeq, headers, maxRetries: MAX_RETRIES });
  }

  /** Withdraws the prompt, or interrupts the session if it has taken it. Resolves when that is done. */
  async abort() {
    this.#isAborted = true;
    const begun = await this.begun.catch(() => undefined);
    if (begun === undefined || this.ended !== undefined) return;
    const { sessionID, messageID } = begun;
    try {
      await this.#client.sessions.inbox.withdraw({ sessionID, messageID }, this.#options);
    } catch {
      // The session has taken it, or it is withdrawn already; a host that is closed has interrupted everything.
      await this.#client.sessions.interrupt({ sessionID }, this.#options).catch(() => {});
    }
    this.#stop();
  }

  /**
   * @param {RequestOptions} options
   * @returns {Promise<Begun>}
   */
  async #begin(options) {
    const { model } = readInput(this.#input, options);
    const { agent, location, id, prompt, delivery } = this.#input;
    this.#throwIfAborted();
    await this.#abortable(this.#live.join(this.#listener));
    this.#throwIfAborted();
    const { sessions } = this.#client;
    const sessionID = this.#input.sessionID ?? (await sessions.create({ agent, model, location }, this.#options)).id;
    if (this.#input.sessionID !== undefined) {
      if (agent !== undefined) await sessions.switchAgent({ sessionID, agent }, this.#options);
      if (model !== undefined) await sessions.switchModel({ sessionID, model }, this.#options);
    }
    this.#throwIfAborted();
    this.#sessionID = sessionID;
    this.requests.follow(sessionID);
    const receipt = await sessions.prompt({ sessionID, id, prompt, delivery }, this.#options);
    const { id: messageID, admittedSeq, promotedSeq } = receipt;
    return { sessionID, messageID, admittedSeq, isRepeated: promotedSeq !== undefined };
  }

  /**
   * @param {Begun} begun
   * @returns {Promise<RunResult>}
   */
  async #follow(begun) {
    const activity = new Activity(begun.messageID, begun.admittedSeq);
    const events = this.events(begun)[Symbol.asyncIterator]();
    /** @type {unknown} */
    let lost;
    try {
      // Beside everything else; a failure of the connection is met again by what follows.
      if (this.#input.sessionID !== undefined) void this.requests.refresh(begun.sessionID).catch(() => {});
      // A prompt that was answered before is announced no more.
      if (begun.isRepeated) this.#stop();
      await this.#read(events, activity, begun.sessionID);
    } catch (error) {
      lost = error;
    } finally {
      events.return?.().catch(() => {});
    }
    const { isDisposed, requests } = this;
    const state = { lost, isDisposed, failure: this.#failure, isAborted: this.#isAborted, denial: requests.denial };
    const result = await conclude(this.#client, this.#options, begun, activity, state);
    this.ended = { seq: activity.seq, result };
    return result;
  }

  /**
   * Reads events until the log says how the work ended, or until the session has stopped without saying it.
   *
   * @param {AsyncIterator<import("../index.js").SessionDurableEvent>} events
   * @param {Activity} activity
   * @param {string} sessionID
   */
  async #read(events, activity, sessionID) {
    let reading = events.next();
    while (activity.end === undefined) {
      const next = await Promise.race([reading, this.#stopped.promise]);
      if (next === undefined) {
        this.#stopped = deferred();
        if (await this.#isActive(sessionID)) continue;
        return this.#catchUp(activity, sessionID);
      }
      if (next.done) return;
      activity.apply(next.value);
      if (activity.end === undefined) reading = events.next();
    }
  }

  /**
   * A server that cannot be asked now has not stopped the work: it is asked again a little later, until the stream of
   * events gives it up.
   *
   * @param {string} sessionID
   */
  async #isActive(sessionID) {
    if (this.isDisposed) return false;
    try {
      return Object.hasOwn(await this.#client.sessions.active(this.#options), sessionID);
    } catch (error) {
      if (!isPassing(error)) throw error;
      setTimeout(() => this.#stop(), ASK_AGAIN_MS);
      return true;
    }
  }

  /**
   * @param {Activity} activity
   * @param {string} sessionID
   */
  async #catchUp(activity, sessionID) {
    for (let hasMore = true; hasMore && activity.end === undefined;) {
      const page = await this.#client.sessions.history({ sessionID, after: activity.seq }, this.#options);
      for (const event of page.data) activity.apply(event);
      hasMore = page.hasMore;
    }
  }

  /** @type {import("./live.js").LiveListener} */
  #listener = {
    onEvent: (event) => this.#hear(event),
    onGap: () => {
      this.blocks.clear();
      this.#stop();
      if (this.#sessionID !== undefined) void this.requests.refresh(this.#sessionID).catch(() => {});
    },
    onFailure: () => {
      const sessionID = this.#sessionID;
      if (sessionID === undefined) return;
      const stop = () => this.#stop();
      void this.#client.sessions.wait({ sessionID }, this.#options).then(stop, stop);
    },
  };

  /** @param {OpenCodeEvent} event */
  #hear(event) {
    if (event.type === "global.disposed") {
      this.isDisposed = true;
      this.#stop();
    }
    this.requests.apply(event);
    if (!("sessionID" in event.data) || event.data.sessionID !== this.#sessionID) return;
    switch (event.type) {
      case "session.idle":
        this.#stop();
        break;
      case "session.error":
        this.#failure = failureOf(event.data.error);
        break;
      case "session.next.prompt.admitted":
      case "session.next.step.started":
        // What failed before concerned another prompt, or was overcome.
        this.#failure = undefined;
        break;
      default:
        if (this.blocks.apply(event)) this.#changed();
    }
  }

  #stop() {
    this.#stopped.resolve(undefined);
  }

  #changed() {
    for (const notify of this.#watchers) notify();
  }

  #throwIfAborted() {
    if (this.#isAborted || this.#signal?.aborted) {
      throw new ClientError("Transport", { cause: this.#signal?.reason ?? new Error("The run was aborted") });
    }
  }

  /**
   * @param {Promise<unknown>} work
   */
  #abortable(work) {
    const signal = this.#signal;
    if (signal === undefined) return work;
    return new Promise((resolve, reject) => {
      const release = onAbort(signal, () => reject(new ClientError("Transport", { cause: signal.reason })));
      work.finally(release).then(resolve, reject);
    });
  }
}

/**
 * @param {import("../index.js").NamedError} error
 * @returns {RunFailure}
 */
function failureOf({ data: { message }, cause }) {
  return cause === undefined ? { message } : { message, cause };
}

exports.Run = Run;
