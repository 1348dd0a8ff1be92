import { onAbort } from "./abort.js";
import { ClientError } from "./errors.js";
import { Queue } from "./queue.js";
import type { Feed } from "./internal.js";

type Connect<T> = (signal: AbortSignal) => Promise<Feed<T>>;

type Reader<T> = { resolve(result: IteratorResult<T, unknown>): void; reject(error: unknown): void };

/** A stream of elements. It does nothing before the first `next()`, and every iterator has its own connection. */
export function createStream<T>(connect: Connect<T>, signal: AbortSignal | undefined): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new StreamIterator(connect, signal) };
}

/**
 * An iterator with a `return()` that does not wait. The `return()` of a generator waits for a pending read, which
 * never ends in an idle session.
 */
class StreamIterator<T> implements AsyncIterator<T> {
  #connect;
  #signal;
  /** Cancels a connection that is not established yet. */
  #controller = new AbortController();
  /** Undefined after the end, so elements without a reader are dropped. */
  #feed: Feed<T> | undefined = undefined;
  /** Pending calls of `next()`, oldest first. */
  #readers: Queue<Reader<T>> = new Queue();
  #release = () => {};
  #ended = false;
  /** A failure that no `next()` has received yet. */
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
      // One loop serves all readers, so they receive elements in the order of their calls.
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

  /** Returns an element that has arrived already, if no reader waits. */
  #buffered() {
    if (!this.#readers.isEmpty) return undefined;
    try {
      return this.#feed?.take();
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Reads while a reader waits. */
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
    // The connection was established after the end.
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

  /**
   * Ends the stream with a failure. The reader that waits longest receives it, and the others receive the end.
   * Without a reader the next call receives the failure.
   */
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

// A browser without the symbol must not get a method with the name "undefined".
if (Symbol.asyncDispose !== undefined) {
  Object.defineProperty(StreamIterator.prototype, Symbol.asyncDispose, {
    configurable: true,
    writable: true,
    async value() {
      await this.return();
    },
  });
}
