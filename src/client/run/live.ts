import { deferred } from "./deferred.js";
import { isPassing, retryDelay } from "../retry.js";
import type { OpenCodeClient, OpenCodeEvent } from "../index.js";
import type { HeadersInput } from "../types.js";

export interface LiveListener {
  onEvent: (event: OpenCodeEvent) => void;
  /** Called if events may have been missed. */
  onGap: () => void;
  /** Called if the stream has failed for good. No event follows. */
  onFailure: (error: unknown) => void;
}

const PACE = { min: 250, max: 10_000 };

// In a row without a connection: three to five minutes.
const MAX_RETRIES = 30;

/** Shares one live stream between all runs of a client. Otherwise each run would parse every event of the host. */
export class LiveEvents {
  #client;
  #headers;
  #listeners: Set<LiveListener> = new Set();
  /** Set while the stream is read. */
  #reading: AbortController | undefined = undefined;
  /** Settles if the stream is connected or has failed. */
  #connected = deferred();

  constructor(client: Pick<OpenCodeClient, "events">, headers: HeadersInput | undefined) {
    this.#client = client;
    this.#headers = headers;
  }

  /** Resolves if the stream is connected. The listener misses no event after that. */
  async join(listener: LiveListener) {
    this.#listeners.add(listener);
    if (this.#reading === undefined) {
      this.#reading = new AbortController();
      this.#connected = deferred();
      void this.#read(this.#reading.signal);
    }
    await this.#connected.promise;
  }

  leave(listener: LiveListener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#stop();
  }

  #stop() {
    this.#reading?.abort();
    this.#reading = undefined;
  }

  async #read(signal: AbortSignal) {
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
        // The first connection is part of a call, so its failure is the failure of the call.
        if (!hasStood || !isPassing(error) || failures > MAX_RETRIES) return this.#fail(error);
        await delay(retryDelay(PACE, failures));
      }
    }
  }

  #fail(error: unknown) {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#stop();
    this.#connected.reject(error);
    for (const listener of listeners) listener.onFailure(error);
  }

  #tell(tell: (listener: LiveListener) => void) {
    for (const listener of this.#listeners) tell(listener);
  }
}

function delay(ms: number) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
