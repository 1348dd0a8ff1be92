"use strict";

/**
 * @template T
 * @typedef {{ value: T, next: Node<T> | undefined }} Node
 */

/**
 * First in, first out, both in constant time however long it grows.
 *
 * @template T
 */
class Queue {
  /** @type {Node<T> | undefined} */
  #first = undefined;
  /** @type {Node<T> | undefined} */
  #last = undefined;

  get isEmpty() {
    return this.#first === undefined;
  }

  /** @param {T} value */
  push(value) {
    const node = { value, next: undefined };
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
  }

  /** @returns {T | undefined} */
  shift() {
    const node = this.#first;
    this.#first = node?.next;
    if (this.#first === undefined) this.#last = undefined;
    return node?.value;
  }
}

exports.Queue = Queue;
