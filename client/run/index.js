"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.addRuns = addRuns;
const stream_js_1 = require("../stream.js");
const feed_js_1 = require("./feed.js");
const live_js_1 = require("./live.js");
const run_js_1 = require("./run.js");
// Long enough for a user at the terminal, short enough for a script.
const DENY_AFTER_MS = 60_000;
/**
 * Adds `sessions.run` to a client. It uses the operations of the client.
 *
 * @param isAnswered True if the host answers requests of a kind or limits their wait. Then a run waits by default.
 */
function addRuns(operations, isAnswered = () => false) {
    const sessions = { ...operations.sessions, run };
    const client = { ...operations, sessions };
    const shared = new live_js_1.LiveEvents(client, undefined);
    function run(input, options = {}) {
        // Headers belong to one run, so such a run has its own live stream.
        const live = (options.headers ?? undefined) === undefined ? shared : new live_js_1.LiveEvents(client, options.headers);
        const unanswered = (kind) => input.unanswered ?? (isAnswered(kind) ? "wait" : { denyAfterMs: DENY_AFTER_MS });
        return present(new run_js_1.Run(client, live, input, options, unanswered));
    }
    return client;
}
function present(run) {
    const parts = (0, stream_js_1.createStream)(async () => new feed_js_1.RunFeed(run, await run.begun), undefined);
    return {
        result: run.result,
        text: handled(run.result.then(({ text }) => text)),
        sessionID: handled(run.begun.then(({ sessionID }) => sessionID)),
        messageID: handled(run.begun.then(({ messageID }) => messageID)),
        abort: () => run.abort(),
        [Symbol.asyncIterator]: () => parts[Symbol.asyncIterator](),
    };
}
/** A promise that the caller may ignore. */
function handled(promise) {
    promise.catch(() => { });
    return promise;
}
