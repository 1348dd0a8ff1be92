"use strict";

const { onAbort } = require("./abort.js");
const { ClientError } = require("./errors.js");
const { Queue } = require("./queue.js");

/**
 * @template T
 * @typedef {import("./internal.js").Feed<T>} Feed
 */

/**
 * @template T
 * @typedef {(signal: AbortSignal) => Promise<Feed<T>>} Connect
 */

/**
 * @template T
 * @typedef {{ resolve(result: IteratorResult<T, unknown>): void, reject(error: unknown): void }} Reader
 */

/**
 * Elements to iterate. Nothing happens before the first `next()`; every iterator has its own connection.
 *
 * @template T
 * @param {Connect<T>} connect
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncIterable<T>}
 */
function createStream(connect, signal) {
  return { [Symbol.asyncIterator]: () => new StreamIterator(connect, signal) };
}

/**
 * Written by hand because a generator cannot do it: its `return()` waits for the read that is pending,
 * which on an idle session is for ever.
 *
 * @template T
 * @implements {AsyncIterator<T>}
 */
class StreamIterator {
  #connect;
  #signal;
  /** Gives up a connection that is still being made. */
  #controller = new AbortController();
  /** @type {Feed<T> | undefined} Gone after the end: what was read but not delivered is dropped. */
  #feed = undefined;
  /** @type {Queue<Reader<T>>} The calls of `next()` that wait, oldest first. */
  #readers = new Queue();
  #release = () => {};
  #ended = false;
  /** @type {unknown} A failure that no `next()` was there to take. */
  #failure = undefined;

  /**
   * @param {Connect<T>} connect
   * @param {AbortSignal | undefined} signal
   */
  constructor(connect, signal) {
    this.#connect = connect;
    this.#signal = signal;
  }

  /** @returns {Promise<IteratorResult<T, unknown>>} */
  next() {
    const value = this.#buffered();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#ended) return this.#afterEnd();
    return new Promise((resolve, reject) => {
      const isFirst = this.#readers.isEmpty;
      this.#readers.push({ resolve, reject });
      // Only one loop serves the readers, so they are answered in the order of their calls.
      if (isFirst) void this.#serve();
    });
  }

  /**
   * @param {unknown} [value]
   * @returns {Promise<IteratorResult<T, unknown>>}
   */
  return(value) {
    this.#end();
    return Promise.resolve({ done: true, value });
  }

  /**
   * @param {unknown} [error]
   * @returns {Promise<IteratorResult<T, unknown>>}
   */
  throw(error) {
    this.#end();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** An element that is here already and that nobody before us waits for. */
  #buffered() {
    if (!this.#readers.isEmpty) return undefined;
    try {
      return this.#feed?.take();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Reads for as long as somebody waits. */
  async #serve() {
    try {
      const feed = this.#feed ?? (await this.#open());
      while (!this.#ended && !this.#readers.isEmpty) {
        if (!this.#deliver(feed.take()) && !(await feed.more())) this.#finish(feed);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async #open() {
    if (this.#signal?.aborted) throw this.#abortError();
    if (this.#signal) this.#release = onAbort(this.#signal, () => this.#fail(this.#abortError()));
    const feed = await this.#connect(this.#controller.signal);
    // Nobody is left to close what arrived too late.
    if (this.#ended) feed.cancel();
    else this.#feed = feed;
    return feed;
  }

  /** @param {T | undefined} value */
  #deliver(value) {
    if (value === undefined) return false;
    this.#readers.shift()?.resolve({ done: false, value });
    return true;
  }

  /** @param {Feed<T>} feed */
  #finish(feed) {
    if (!this.#ended) this.#deliver(feed.take());
    this.#end();
  }

  #abortError() {
    return new ClientError("Transport", { cause: this.#signal?.reason });
  }

  /**
   * The reader who waits longest learns of it, the others see the end; if none waits, the next one learns.
   *
   * @param {unknown} error
   */
  #fail(error) {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#failure = error;
    else reader.reject(error);
    this.#end();
  }

  #end() {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
    if (this.#feed === undefined) this.#controller.abort();
    else this.#feed.cancel();
    this.#feed = undefined;
    for (let reader = this.#readers.shift(); reader !== undefined; reader = this.#readers.shift()) {
      reader.resolve({ done: true, value: undefined });
    }
  }

  /** @returns {Promise<IteratorResult<T, unknown>>} */
  #afterEnd() {
    const error = this.#failure;
    this.#failure = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }
}

// Browsers that lack the symbol must not get a method called "undefined".
if (Symbol.asyncDispose !== undefined) {
  Object.defineProperty(StreamIterator.prototype, Symbol.asyncDispose, {
    configurable: true,
    writable: true,
    /** @this {StreamIterator<unknown>} */
    async value() {
      await this.return();
    },
  });
}

module.exports = { createStream };
