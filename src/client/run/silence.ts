import type { OpenCodeEvent } from "../index.js";

// Timers take 31 bits.
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Events of the work of a session. The others have callers as their cause. */
const OF_WORK = /^session\.next\.(?!prompt\.|agent\.|model\.switched|moved|revert\.)/;

/**
 * Measures the time in which the work on a prompt gives no sign of life: no output of the provider, no call, result or
 * progress of a tool, and no sign of a child session. A wait that the session announces is not silence.
 */
export class Silence {
  #limitMs;
  #onSilent;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  /** The announced end of the wait of each session that waits for another attempt. Times are monotonic. */
  #waits: Map<string, number> = new Map();
  /** The time at which the silence is long enough. */
  #due = 0;

  /** The number of signs so far. */
  signs = 0;

  /**
   * @param limitMs The longest silence. `false` for any.
   * @param onSilent Called with the length of a silence that is this long, and again after the same time without a sign.
   */
  constructor(limitMs: number | false, onSilent: (silentMs: number) => void) {
    this.#limitMs = limitMs;
    this.#onSilent = onSilent;
  }

  /** Begins to measure. */
  start() {
    this.#measure();
    this.#arm();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#limitMs = false;
  }

  /** Takes a sign of life. */
  stir() {
    this.signs++;
    this.#measure();
  }

  /** Takes an event of the session or of a child session. */
  apply(event: OpenCodeEvent) {
    if (event.type === "session.status") {
      const { sessionID, status } = event.data;
      if (status.type === "busy" && status.silentMs !== undefined) return;
      if (status.type === "retry") this.#waits.set(sessionID, performance.now() + status.next - Date.now());
      else this.#waits.delete(sessionID);
    } else if (!OF_WORK.test(event.type)) return;
    this.stir();
  }

  #measure() {
    if (this.#limitMs !== false) this.#due = Math.max(performance.now(), ...this.#waits.values()) + this.#limitMs;
  }

  #arm() {
    if (this.#limitMs === false) return;
    this.#timer = setTimeout(() => this.#check(), Math.min(this.#due - performance.now(), LONGEST_DELAY_MS));
    // The process does not wait for the end of a silence. Browsers have no such method.
    (this.#timer as { unref?(): void }).unref?.();
  }

  #check() {
    if (this.#limitMs !== false && performance.now() >= this.#due) {
      this.#measure();
      this.#onSilent(this.#limitMs);
    }
    this.#arm();
  }
}
