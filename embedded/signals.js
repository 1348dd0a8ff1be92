"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Signals = void 0;
/** The signals of calls of one function, by the ids of the requests that it was called for. */
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
    /** Forgets a signal without aborting it: the function has answered. */
    finish(id) {
        this.#controllers.delete(id);
    }
    /** Aborts the signal of one request. Without one it does nothing. */
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
