"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Queue = void 0;
/** A queue. Both operations take constant time at any length. */
class Queue {
    #first = undefined;
    #last = undefined;
    get isEmpty() {
        return this.#first === undefined;
    }
    push(value) {
        const node = { value, next: undefined };
        if (this.#last === undefined)
            this.#first = node;
        else
            this.#last.next = node;
        this.#last = node;
    }
    shift() {
        const node = this.#first;
        this.#first = node?.next;
        if (this.#first === undefined)
            this.#last = undefined;
        return node?.value;
    }
}
exports.Queue = Queue;
