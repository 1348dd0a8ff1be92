import { onAbort } from "./abort.js";
import { ClientError } from "./errors.js";
import { Queue } from "./queue.js";
import type { Feed } from "./internal.js";

type Connect<T> = (signal: AbortSignal) => Promise<Feed<T>>;

type Reader<T> = { resolve(result: IteratorResult<T, unknown>): void; reject(error: unknown): void };

/** Elements to iterate. Nothing happens before the first `next()`; every iterator has its own connection. */
export function createStream<T>(connect: Connect<T>, signal: AbortSignal | undefined): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new StreamIterator(connect, signal) };
}

/**
 * Written by hand because a generator cannot do it: its `return()` waits for the read that is pending,
 * which on an idle session is for ever.
 */
class StreamIterator<T> implements AsyncIterator<T> {
  #connect;
  #signal;
  /** Gives up a connection that is still being made. */
  #controller = new AbortController();
  /** Gone after the end: what was read but not delivered is dropped. */
  #feed: Feed<T> | undefined = undefined;
  /** The calls of `next()` that wait, oldest first. */
  #readers: Queue<Reader<T>> = new Queue();
  #release = () => {};
  #ended = false;
  /** A failure that no `next()` was there to take. */
  #failure: unknown = undefined;

  constructor(connect: Connect<T>, signal: AbortSignal | undefined) {
    this.#connect = connect;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<T, unknown>> {
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

  return(value?: unknown): Promise<IteratorResult<T, unknown>> {
    this.#end();
    return Promise.resolve({ done: true, value });
  }

  throw(error?: unknown): Promise<IteratorResult<T, unknown>> {
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

  #deliver(value: T | undefined) {
    if (value === undefined) return false;
    this.#readers.shift()?.resolve({ done: false, value });
    return true;
  }

  #finish(feed: Feed<T>) {
    if (!this.#ended) this.#deliver(feed.take());
    this.#end();
  }

  #abortError() {
    return new ClientError("Transport", { cause: this.#signal?.reason });
  }

  /** The reader who waits longest learns of it, the others see the end; if none waits, the next one learns. */
  #fail(error: unknown) {
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

  #afterEnd(): Promise<IteratorResult<T, unknown>> {
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
    async value() {
      await this.return();
    },
  });
}
