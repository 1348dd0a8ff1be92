/**
 * Cuts text that arrives in pieces into lines.
 *
 * Pull based: `next()` gives one line and undefined when more text is needed; only then may `push()` be called
 * with text that holds a line feed. So one piece may hold any number of lines, and each costs its own length only.
 */
export class LineBuffer {
  /** Complete lines, and where the first unread one begins. */
  #text = "";
  #position = 0;
  /** The unfinished line after `#text`. */
  #rest = "";

  /** The length of a line that has begun, once `next()` has asked for more. */
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

  /** A line without its line feed. */
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
