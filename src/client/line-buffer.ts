/**
 * Splits text that arrives in pieces into lines.
 *
 * `next()` returns one line, or undefined if more text is needed. Only then may the caller `push()` more text. A
 * piece may have any number of lines, and each line costs time in proportion to its length.
 */
export class LineBuffer {
  /** Complete lines. `#position` is the beginning of the first unread line. */
  #text = "";
  #position = 0;
  /** The unfinished line after `#text`. */
  #rest = "";

  /** Length of the incomplete last line, after `next()` has returned undefined. */
  get unfinished() {
    return this.#rest.length;
  }

  push(text: string) {
    this.#rest += text;
    if (!text.includes("\n")) return;
    this.#text = this.#rest;
    this.#position = 0;
    this.#rest = "";
  }

  /** Returns a line without its line feed. */
  next(): string | undefined {
    const end = this.#text.indexOf("\n", this.#position);
    if (end === -1) return this.#keepRest();
    const line = this.#text.slice(this.#position, end);
    this.#position = end + 1;
    return line;
  }

  #keepRest(): undefined {
    this.#rest = this.#text.slice(this.#position) + this.#rest;
    this.#text = "";
    this.#position = 0;
  }
}
