"use strict";

const { deferred } = require("./deferred.js");
const { isPassing, retryDelay } = require("../retry.js");

/**
 * @typedef {import("../index.js").OpenCodeClient} OpenCodeClient
 * @typedef {import("../index.js").OpenCodeEvent} OpenCodeEvent
 * @typedef {import("../types.js").HeadersInput} HeadersInput
 *
 * @typedef {object} LiveListener
 * @property {(event: OpenCodeEvent) => void} onEvent
 * @property {() => void} onGap Events may have been missed.
 * @property {(error: unknown) => void} onFailure The stream cannot be had any more; nothing follows.
 */

const PACE = { min: 250, max: 10_000 };

// In a row without a connection: three to five minutes.
const MAX_RETRIES = 30;

/** Shares one live stream between all runs of a client: each would otherwise parse every event of the host. */
class LiveEvents {
  #client;
  #headers;
  /** @type {Set<LiveListener>} */
  #listeners = new Set();
  /** @type {AbortController | undefined} There is one while the stream is read. */
  #reading = undefined;
  /** Settles when the stream stands, or cannot be had. */
  #connected = deferred();

  /**
   * @param {Pick<OpenCodeClient, "events">} client
   * @param {HeadersInput | undefined} headers
   */
  constructor(client, headers) {
    this.#client = client;
    this.#headers = headers;
  }

  /**
   * Resolves when the stream stands: the listener misses nothing that happens from then on.
   *
   * @param {LiveListener} listener
   */
  async join(listener) {
    this.#listeners.add(listener);
    if (this.#reading === undefined) {
      this.#reading = new AbortController();
      this.#connected = deferred();
      void this.#read(this.#reading.signal);
    }
    await this.#connected.promise;
  }

  /** @param {LiveListener} listener */
  leave(listener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#stop();
  }

  #stop() {
    this.#reading?.abort();
    this.#reading = undefined;
  }

  /** @param {AbortSignal} signal */
  async #read(signal) {
    let failures = 0;
    let hasStood = false;
    while (!signal.aborted) {
      try {
        for await (const event of this.#client.events.subscribe({ signal, headers: this.#headers })) {
          failures = 0;
          if (event.type === "server.connected") {
            if (hasStood) this.#tell((listener) => listener.onGap());
            hasStood = true;
            this.#connected.resolve(undefined);
          } else {
            this.#tell((listener) => listener.onEvent(event));
          }
        }
        throw new Error("The host ended its live stream");
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        // The first connection is part of a call, which fails as any call does.
        if (!hasStood || !isPassing(error) || failures > MAX_RETRIES) return this.#fail(error);
        await delay(retryDelay(PACE, failures));
      }
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#stop();
    this.#connected.reject(error);
    for (const listener of listeners) listener.onFailure(error);
  }

  /** @param {(listener: LiveListener) => void} tell */
  #tell(tell) {
    for (const listener of this.#listeners) tell(listener);
  }
}

/** @param {number} ms */
function delay(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

exports.LiveEvents = LiveEvents;
