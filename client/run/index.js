"use strict";

const { createStream } = require("../stream.js");
const { RunFeed } = require("./feed.js");
const { LiveEvents } = require("./live.js");
const { Run } = require("./run.js");

/**
 * @typedef {import("../index.js").OpenCodeClient} OpenCodeClient
 * @typedef {import("../generated/types.js").OpenCodeOperations} OpenCodeOperations
 * @typedef {import("../types.js").RequestOptions} RequestOptions
 * @typedef {import("../run.js").RunInput} RunInput
 * @typedef {import("../run.js").RunNeedsInput} RunNeedsInput
 * @typedef {import("../run.js").RunPart} RunPart
 * @typedef {import("../run.js").RunUnanswered} RunUnanswered
 * @typedef {import("../run.js").SessionRun} SessionRun
 */

// Long enough for a person who looks at the terminal, short enough for a script.
const DENY_AFTER_MS = 60_000;

/**
 * Adds `sessions.run` to a client. It is made of the client's own operations.
 *
 * @param {OpenCodeOperations} operations
 * @param {(kind: RunNeedsInput["kind"]) => boolean} [isAnswered] Whether something else answers requests of a kind or
 *   limits how long they wait, so that a run by default does not.
 * @returns {OpenCodeClient}
 */
function addRuns(operations, isAnswered = () => false) {
  const sessions = { ...operations.sessions, run };
  /** @type {OpenCodeClient} */
  const client = { ...operations, sessions };
  const shared = new LiveEvents(client, undefined);

  /**
   * @param {RunInput} input
   * @param {RequestOptions} [options]
   * @returns {SessionRun}
   */
  function run(input, options = {}) {
    // Headers belong to one run, and so does the connection they are sent with.
    const live = (options.headers ?? undefined) === undefined ? shared : new LiveEvents(client, options.headers);
    const unanswered = (/** @type {RunNeedsInput["kind"]} */ kind) =>
      input.unanswered ?? (isAnswered(kind) ? "wait" : { denyAfterMs: DENY_AFTER_MS });
    return present(new Run(client, live, input, options, unanswered));
  }

  return client;
}

/**
 * @param {Run} run
 * @returns {SessionRun}
 */
function present(run) {
  /** @type {AsyncIterable<RunPart>} */
  const parts = createStream(async () => new RunFeed(run, await run.begun), undefined);
  return {
    result: run.result,
    text: handled(run.result.then(({ text }) => text)),
    sessionID: handled(run.begun.then(({ sessionID }) => sessionID)),
    messageID: handled(run.begun.then(({ messageID }) => messageID)),
    abort: () => run.abort(),
    [Symbol.asyncIterator]: () => parts[Symbol.asyncIterator](),
  };
}

/**
 * A promise that the caller may leave alone.
 *
 * @template T
 * @param {Promise<T>} promise
 */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}

module.exports = { addRuns };
