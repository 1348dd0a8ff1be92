"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.LiveEvents = void 0;
const deferred_js_1 = require("./deferred.js");
const retry_js_1 = require("../retry.js");
const PACE = { min: 250, max: 10_000 };
// In a row without a connection: three to five minutes.
const MAX_RETRIES = 30;
/** Shares one live stream between all runs of a client. Otherwise each run would parse every event of the host. */
class LiveEvents {
    #client;
    #headers;
    #listeners = new Set();
    /** Set while the stream is read. */
    #reading = undefined;
    /** Settles if the stream is connected or has failed. */
    #connected = (0, deferred_js_1.deferred)();
    constructor(client, headers) {
        this.#client = client;
        this.#headers = headers;
    }
    /** Resolves if the stream is connected. The listener misses no event after that. */
    async join(listener) {
        this.#listeners.add(listener);
        if (this.#reading === undefined) {
            this.#reading = new AbortController();
            this.#connected = (0, deferred_js_1.deferred)();
            void this.#read(this.#reading.signal);
        }
        await this.#connected.promise;
    }
    leave(listener) {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0)
            this.#stop();
    }
    #stop() {
        this.#reading?.abort();
        this.#reading = undefined;
    }
    async #read(signal) {
        let failures = 0;
        let hasStood = false;
        while (!signal.aborted) {
            try {
                for await (const event of this.#client.events.subscribe({ signal, headers: this.#headers })) {
                    failures = 0;
                    if (event.type === "server.connected") {
                        if (hasStood)
                            this.#tell((listener) => listener.onGap());
                        hasStood = true;
                        this.#connected.resolve(undefined);
                    }
                    else {
                        this.#tell((listener) => listener.onEvent(event));
                    }
                }
                throw new Error("The host ended its live stream");
            }
            catch (error) {
                if (signal.aborted)
                    return;
                failures += 1;
                // The first connection is part of a call, so its failure is the failure of the call.
                if (!hasStood || !(0, retry_js_1.isPassing)(error) || failures > MAX_RETRIES)
                    return this.#fail(error);
                await delay((0, retry_js_1.retryDelay)(PACE, failures));
            }
        }
    }
    #fail(error) {
        const listeners = [...this.#listeners];
        this.#listeners.clear();
        this.#stop();
        this.#connected.reject(error);
        for (const listener of listeners)
            listener.onFailure(error);
    }
    #tell(tell) {
        for (const listener of this.#listeners)
            tell(listener);
    }
}
exports.LiveEvents = LiveEvents;
function delay(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
}
