import { ClientError } from "./errors.js";
import { malformed, parseJson, parseObject } from "./json.js";
import { LineBuffer } from "./line-buffer.js";
import type { Parser } from "./internal.js";

// The largest event, and the largest unfinished line, we hold, in UTF-16 code units (256 MiB of ASCII). A host stores
// events that are smaller.
export const EVENT_LIMIT = 256 * 1024 * 1024;

// The name of the one frame that is no element: the server's last word about a stream that failed.
const FAILURE = "effect/httpapi/stream/failure";

/** Turns the text of an event stream into its elements. */
export class EventParser<T> implements Parser<T> {
  #lines = new LineBuffer();
  /** The data lines of the frame being read, joined. */
  #data: string | undefined = undefined;
  #name = "";
  /** Whether the last chunk ended in CR, whose LF may begin the next one. */
  #skipLineFeed = false;

  push(chunk: string) {
    this.#lines.push(this.#normalise(chunk));
    this.#refuseOverlong(this.#lines.unfinished);
  }

  /** The body has ended. What is left counts as a frame, also without the blank line that ends one. */
  end() {
    this.push("\n\n");
  }

  next(): T | undefined {
    for (let line = this.#lines.next(); line !== undefined; line = this.#lines.next()) {
      if (line !== "") this.#field(line);
      else if (this.#data !== undefined) return this.#dispatch(this.#data);
      else this.#name = "";
    }
    return undefined;
  }

  /** Makes every line end a LF. Almost all streams have no CR and pass untouched. */
  #normalise(chunk: string) {
    if (chunk === "") return chunk;
    const text = this.#skipLineFeed && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
    this.#skipLineFeed = chunk.endsWith("\r");
    return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  }

  #field(line: string) {
    if (line.startsWith("data:")) this.#append(line.slice(line.startsWith(" ", 5) ? 6 : 5));
    else if (line === "data") this.#append("");
    else if (line.startsWith("event:")) this.#name = line.slice(line.startsWith(" ", 6) ? 7 : 6);
  }

  #append(value: string) {
    this.#refuseOverlong(value.length);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #refuseOverlong(length: number) {
    if (length + (this.#data?.length ?? 0) > EVENT_LIMIT) throw malformed("An event larger than 256 MiB");
  }

  #dispatch(data: string): T {
    const name = this.#name;
    this.#data = undefined;
    this.#name = "";
    if (name === FAILURE) throw new ClientError("Transport", { cause: parseJson(data) });
    // The contract says which type the elements have.
    const element: unknown = parseObject(data);
    return element as T;
  }
}
