/** The signals of calls of one function, by the ids of the requests that it was called for. */
export class Signals<Id> {
  #controllers: Map<Id, AbortController> = new Map();

  get isEmpty() {
    return this.#controllers.size === 0;
  }

  begin(id: Id): AbortSignal {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    return controller.signal;
  }

  /** Forgets a signal without aborting it: the function has answered. */
  finish(id: Id) {
    this.#controllers.delete(id);
  }

  /** Aborts the signal of one request. Without one it does nothing. */
  abort(id: Id) {
    const controller = this.#controllers.get(id);
    this.#controllers.delete(id);
    controller?.abort();
  }

  abortAll() {
    for (const id of this.#controllers.keys()) this.abort(id);
  }
}
