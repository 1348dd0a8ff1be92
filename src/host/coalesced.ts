/** Sends the newest of several values, at most one per interval. */
export class Coalesced<T> {
  #send;
  #intervalMs;
  #timer: NodeJS.Timeout | undefined = undefined;
  #next: { value: T } | undefined = undefined;

  constructor(send: (value: T) => void, intervalMs: number) {
    this.#send = send;
    this.#intervalMs = intervalMs;
  }

  /** Sends the value at once, or replaces the value that waits for the end of the interval. */
  push(value: T) {
    this.#next = { value };
    if (this.#timer === undefined) this.#flush();
  }

  /** Drops the waiting value. */
  end() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = undefined;
  }

  #flush() {
    const next = this.#next;
    this.#next = undefined;
    this.#timer = undefined;
    if (next === undefined) return;
    // The timer must not keep the process alive.
    this.#timer = setTimeout(() => this.#flush(), this.#intervalMs).unref();
    this.#send(next.value);
  }
}
