type Node<T> = { value: T; next: Node<T> | undefined };

/** A queue. Both operations take constant time at any length. */
export class Queue<T> {
  #first: Node<T> | undefined = undefined;
  #last: Node<T> | undefined = undefined;

  get isEmpty() {
    return this.#first === undefined;
  }

  push(value: T) {
    const node = { value, next: undefined };
    if (this.#last === undefined) this.#first = node;
    else this.#last.next = node;
    this.#last = node;
  }

  shift(): T | undefined {
    const node = this.#first;
    this.#first = node?.next;
    if (this.#first === undefined) this.#last = undefined;
    return node?.value;
  }
}
