// Sends the events of a model to the native host.

import { timers } from "./builtins.js";
import { describe } from "./checks.js";
import type { ModelEvent } from "../index.js";
import type { ProgramCall } from "./program.js";

/** Maximum number of events of a batch. */
const MAX_EVENTS = 256;

/** Length of a batch, in UTF-16 code units, from which on it is sent at once. */
const LONG_BATCH = 64 * 1024;

/**
 * The events of one answer, in batches. Events that come in one turn of the event loop cross the border together: a
 * crossing costs more than an event.
 */
export class EventBatches {
  #call;
  #events: string[] = [];
  #length = 0;
  #isScheduled = false;

  constructor(call: ProgramCall) {
    this.#call = call;
  }

  /** Returns a promise if the caller must wait before it adds the next event. */
  add(event: ModelEvent): Promise<void> | undefined {
    const text = encodeEvent(event);
    this.#events.push(text);
    this.#length += text.length;
    if (this.#events.length >= MAX_EVENTS || this.#length >= LONG_BATCH) this.flush();
    else this.#schedule();
    return this.#call.room();
  }

  /** Sends the events that wait. */
  flush() {
    if (this.#events.length === 0) return;
    const batch = this.#events.join(",");
    this.#events = [];
    this.#length = 0;
    this.#call.sendEvents(`{"events":[${batch}]}`);
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Not the global function, which tests may replace by one that never calls back.
    timers.setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }
}

function encodeEvent(event: unknown) {
  if (typeof event !== "object" || event === null) {
    throw new TypeError(`An event must be an object, got ${describe(event)}`);
  }
  // Halves of a surrogate pair stay: the native host joins the halves of a character that two deltas share.
  return JSON.stringify(event);
}
