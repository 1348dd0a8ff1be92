"use strict";

const { onAbort } = require("./abort.js");
const { ClientError, transportError } = require("./errors.js");
const { Queue } = require("./queue.js");
const { EventParser } = require("./sse.js");

/**
 * @typedef {import("./internal.js").TextStream} TextStream
 * @typedef {(signal: AbortSignal) => Promise<TextStream>} Connect
 * @typedef {Record<string, unknown>} Event
 * @typedef {{ resolve(result: IteratorResult<Event, unknown>): void, reject(error: unknown): void }} Reader
 */

/**
 * Events to iterate. Nothing happens before the first `next()`; every iterator has its own connection.
 *
 * @param {Connect} connect
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncIterable<Event>}
 */
function createStream(connect, signal) {
  return { [Symbol.asyncIterator]: () => new EventIterator(connect, signal) };
}

/**
 * Written by hand because a generator cannot do it: its `return()` waits for the read that is pending,
 * which on an idle session is for ever.
 *
 * @implements {AsyncIterator<Event>}
 */
class EventIterator {
  #connect;
  #signal;
  /** Gives up a connection that is still being made. */
  #controller = new AbortController();
  /** @type {TextStream | undefined} */
  #body = undefined;
  #parser = new EventParser();
  /** @type {Queue<Reader>} The calls of `next()` that wait, oldest first. */
  #readers = new Queue();
  #release = () => {};
  #ended = false;
  /** @type {unknown} A failure that no `next()` was there to take. */
  #failure = undefined;

  /**
   * @param {Connect} connect
   * @param {AbortSignal | undefined} signal
   */
  constructor(connect, signal) {
    this.#connect = connect;
    this.#signal = signal;
  }

  /** @returns {Promise<IteratorResult<Event, unknown>>} */
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
   * @returns {Promise<IteratorResult<Event, unknown>>}
   */
  return(value) {
    this.#end();
    return Promise.resolve({ done: true, value });
  }

  /**
   * @param {unknown} [error]
   * @returns {Promise<IteratorResult<Event, unknown>>}
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
    if (this.#ended || this.#body === undefined || !this.#readers.isEmpty) return undefined;
    try {
      return this.#parser.next();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Reads for as long as somebody waits. */
  async #serve() {
    try {
      this.#body ??= await this.#open();
      while (!this.#ended && !this.#readers.isEmpty) {
        const value = this.#parser.next();
        if (value !== undefined) this.#deliver(value);
        else this.#accept(await this.#body.next());
      }
    } catch (error) {
      // What the opening throws is final; everything after it is the body that broke, or says itself what it is.
      this.#fail(this.#body === undefined ? error : transportError(error));
    }
  }

  async #open() {
    if (this.#signal?.aborted) throw this.#abortError();
    if (this.#signal) this.#release = onAbort(this.#signal, () => this.#fail(this.#abortError()));
    const body = await this.#connect(this.#controller.signal);
    // Nobody is left to close what arrived too late.
    if (this.#ended) body.cancel();
    return body;
  }

  /** @param {string | null} text */
  #accept(text) {
    if (this.#ended) return;
    if (text !== null) return this.#parser.push(text);
    this.#parser.end();
    const value = this.#parser.next();
    if (value !== undefined) this.#deliver(value);
    this.#end();
  }

  /** @param {Event} value */
  #deliver(value) {
    this.#readers.shift()?.resolve({ done: false, value });
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
    if (this.#body === undefined) this.#controller.abort();
    else this.#body.cancel();
    // What was read but not delivered is dropped.
    this.#parser = new EventParser();
    for (let reader = this.#readers.shift(); reader !== undefined; reader = this.#readers.shift()) {
      reader.resolve({ done: true, value: undefined });
    }
  }

  /** @returns {Promise<IteratorResult<Event, unknown>>} */
  #afterEnd() {
    const error = this.#failure;
    this.#failure = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }
}

// Browsers that lack the symbol must not get a method called "undefined".
if (Symbol.asyncDispose !== undefined) {
  Object.defineProperty(EventIterator.prototype, Symbol.asyncDispose, {
    configurable: true,
    writable: true,
    /** @this {EventIterator} */
    async value() {
      await this.return();
    },
  });
}

module.exports = { createStream };
