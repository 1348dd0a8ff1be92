"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Signals = void 0;
/** The signals for the calls of one function, by the ids of requests. */
class Signals {
    #controllers = new Map();
    get isEmpty() {
        return this.#controllers.size === 0;
    }
    begin(id) {
        const controller = new AbortController();
        this.#controllers.set(id, controller);
        return controller.signal;
    }
    /** Removes a signal without an abort: the function has answered. */
    finish(id) {
        this.#controllers.delete(id);
    }
    /** Aborts the signal of a request. Does nothing without one. */
    abort(id) {
        const controller = this.#controllers.get(id);
        this.#controllers.delete(id);
        controller?.abort();
    }
    abortAll() {
        for (const id of this.#controllers.keys())
            this.abort(id);
    }
}
exports.Signals = Signals;
