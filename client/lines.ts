import { ClientError } from "./errors.js";
import { taggedError } from "./failures.js";
import { malformed } from "./json.js";
import { LineBuffer } from "./line-buffer.js";
import type { Parser } from "./internal.js";

// The content type of bodies of lines.
export const LINES_TYPE = "application/x-ndjson";

// The longest line we hold, in UTF-16 code units (256 MiB of ASCII). A host exports lines that are shorter.
export const LINE_LIMIT = 256 * 1024 * 1024;

// The most text of one request, likewise. Some engines cannot make a string that is twice as long.
const BODY_LIMIT = 256 * 1024 * 1024;

/** Turns the text of a body into its lines. */
export class LineParser implements Parser<string> {
  #lines = new LineBuffer();

  push(text: string) {
    this.#lines.push(text);
    refuseOverlong(this.#lines.unfinished);
  }

  /** Every line ends in a line feed, so a body that ends elsewhere was cut. */
  end() {
    if (this.#lines.unfinished === 0) return;
    throw new ClientError("Transport", { cause: new Error("The body ended within a line") });
  }

  next() {
    const line = this.#lines.next();
    if (line !== undefined) refuseOverlong(line.length);
    return line;
  }
}

function refuseOverlong(length: number) {
  if (length > LINE_LIMIT) throw malformed("A line larger than 256 MiB");
}

/**
 * The body that these lines make. Every one of them ends in a line feed.
 *
 * @param lines What a caller gave as lines.
 */
export async function joinLines(
  lines: unknown,
  signal: AbortSignal | undefined,
  limit: number = BODY_LIMIT,
): Promise<string> {
  if (!isIterable(lines)) throw refusal(`Expected lines, got ${kindOf(lines)}`);
  const parts: string[] = [];
  let length = 0;
  // A string is a whole file; its characters are no lines.
  for await (const line of typeof lines === "string" ? [lines] : lines) {
    // Whoever aborted has his answer, and the source need not go on.
    signal?.throwIfAborted();
    if (typeof line !== "string") throw refusal(`Expected lines of text, got ${kindOf(line)}`);
    // What stands after the last line feed of a text that was split at them is no line.
    const part = line === "" || line.endsWith("\n") ? line : `${line}\n`;
    length += part.length;
    if (length > limit) throw refusal(`The lines have more than the ${limit} characters that one request carries`);
    parts.push(part);
  }
  signal?.throwIfAborted();
  return parts.join("");
}

function isIterable(lines: unknown): lines is string | Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof lines === "string") return true;
  return typeof lines === "object" && lines !== null && (Symbol.asyncIterator in lines || Symbol.iterator in lines);
}

function kindOf(value: unknown) {
  return value === null ? "null" : typeof value;
}

function refusal(message: string) {
  return taggedError({ _tag: "InvalidRequestError", message, kind: "Payload" });
}
