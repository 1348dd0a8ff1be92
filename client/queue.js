"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Queue = void 0;
/** First in, first out, both in constant time however long it grows. */
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
