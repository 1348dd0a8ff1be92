"use strict";

const { onAbort } = require("./abort.js");
const { ClientError, transportError } = require("./errors.js");
const { Queue } = require("./queue.js");

/**
 * @typedef {import("./internal.js").TextStream} TextStream
 * @typedef {(signal: AbortSignal) => Promise<TextStream>} Connect
 */

/**
 * @template T
 * @typedef {import("./internal.js").Parser<T>} Parser
 */

/**
 * @template T
 * @typedef {{ resolve(result: IteratorResult<T, unknown>): void, reject(error: unknown): void }} Reader
 */

/**
 * Elements to iterate. Nothing happens before the first `next()`; every iterator has its own connection.
 *
 * @template T
 * @param {Connect} connect
 * @param {() => Parser<T>} createParser Makes elements of the text that comes.
 * @param {AbortSignal | undefined} signal
 * @returns {AsyncIterable<T>}
 */
function createStream(connect, createParser, signal) {
  return { [Symbol.asyncIterator]: () => new StreamIterator(connect, createParser, signal) };
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
  /** @type {TextStream | undefined} */
  #body = undefined;
  #createParser;
  #parser;
  /** @type {Queue<Reader<T>>} The calls of `next()` that wait, oldest first. */
  #readers = new Queue();
  #release = () => {};
  #ended = false;
  /** @type {unknown} A failure that no `next()` was there to take. */
  #failure = undefined;

  /**
   * @param {Connect} connect
   * @param {() => Parser<T>} createParser
   * @param {AbortSignal | undefined} signal
   */
  constructor(connect, createParser, signal) {
    this.#connect = connect;
    this.#createParser = createParser;
    this.#parser = createParser();
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

  /** @param {T} value */
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
    this.#parser = this.#createParser();
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
