import { ClientError } from "./errors.js";
import { malformed, parseJson, parseObject } from "./json.js";
import { LineBuffer } from "./line-buffer.js";
import type { Parser } from "./internal.js";

// Largest event, and largest incomplete line, in UTF-16 code units (256 MiB of ASCII). The events of a host are
// smaller.
export const EVENT_LIMIT = 256 * 1024 * 1024;

// Name of the only frame that is not an element: the failure of the stream.
const FAILURE = "effect/httpapi/stream/failure";

/** Turns the text of an event stream into its elements. */
export class EventParser<T> implements Parser<T> {
  #lines = new LineBuffer();
  /** The joined data lines of the current frame. */
  #data: string | undefined = undefined;
  #name = "";
  /** True if the last chunk ended with CR, whose LF may begin the next chunk. */
  #skipLineFeed = false;

  push(chunk: string) {
    this.#lines.push(this.#normalise(chunk));
    this.#refuseOverlong(this.#lines.unfinished);
  }

  /** Reports the end of the body. The rest counts as a frame, also without an empty line. */
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

  /** Converts line ends to LF. Almost all streams have no CR. */
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
    // The contract defines the type of the elements.
    const element: unknown = parseObject(data);
    return element as T;
  }
}
