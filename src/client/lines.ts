import { ClientError } from "./errors.js";
import { taggedError } from "./failures.js";
import { malformed } from "./json.js";
import { LineBuffer } from "./line-buffer.js";
import type { Parser } from "./internal.js";

// The content type of a body that consists of lines.
export const LINES_TYPE = "application/x-ndjson";

// Longest line in UTF-16 code units (256 MiB of ASCII). The lines that a host exports are shorter.
export const LINE_LIMIT = 256 * 1024 * 1024;

// Longest body of one request in UTF-16 code units. Some engines cannot create a string of twice this length.
const BODY_LIMIT = 256 * 1024 * 1024;

/** Turns the text of a body into its lines. */
export class LineParser implements Parser<string> {
  #lines = new LineBuffer();

  push(text: string) {
    this.#lines.push(text);
    refuseOverlong(this.#lines.unfinished);
  }

  /** Fails if a line is incomplete. Each line ends with a line feed, so the body was cut. */
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
 * The body with these lines. Each ends with a line feed.
 *
 * @param lines The lines from the caller.
 */
export async function joinLines(
  lines: unknown,
  signal: AbortSignal | undefined,
  limit: number = BODY_LIMIT,
): Promise<string> {
  if (!isIterable(lines)) throw refusal(`Expected lines, got ${kindOf(lines)}`);
  const parts: string[] = [];
  let length = 0;
  // A string is the text of a whole file, not a list of characters.
  for await (const line of typeof lines === "string" ? [lines] : lines) {
    // The call has failed already if its caller aborted it. So the source can stop.
    signal?.throwIfAborted();
    if (typeof line !== "string") throw refusal(`Expected lines of text, got ${kindOf(line)}`);
    // A text that was split at line feeds has an empty part after the last one.
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
