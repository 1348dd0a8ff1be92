"use strict";

/**
 * The signals of calls of one function, by the ids of the requests that it was called for.
 *
 * @template Id
 */
class Signals {
  /** @type {Map<Id, AbortController>} */
  #controllers = new Map();

  get isEmpty() {
    return this.#controllers.size === 0;
  }

  /**
   * @param {Id} id
   * @returns {AbortSignal}
   */
  begin(id) {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    return controller.signal;
  }

  /**
   * Forgets a signal without aborting it: the function has answered.
   *
   * @param {Id} id
   */
  finish(id) {
    this.#controllers.delete(id);
  }

  /**
   * Aborts the signal of one request. Without one it does nothing.
   *
   * @param {Id} id
   */
  abort(id) {
    const controller = this.#controllers.get(id);
    this.#controllers.delete(id);
    controller?.abort();
  }

  abortAll() {
    for (const id of this.#controllers.keys()) this.abort(id);
  }
}

exports.Signals = Signals;
