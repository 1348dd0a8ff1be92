/** The signals for the calls of one function, by the ids of requests. */
export class Signals {
  #controllers: Map<string, AbortController> = new Map();

  begin(id: string): AbortSignal {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    return controller.signal;
  }

  /** Removes a signal without an abort: the function has answered. */
  finish(id: string) {
    this.#controllers.delete(id);
  }

  /** Aborts the signal of a request. Does nothing without one. */
  abort(id: string) {
    const controller = this.#controllers.get(id);
    this.#controllers.delete(id);
    controller?.abort();
  }

  abortAll() {
    for (const id of this.#controllers.keys()) this.abort(id);
  }
}
