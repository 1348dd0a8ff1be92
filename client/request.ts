import { ClientError } from "./errors.js";
import { taggedError } from "./failures.js";
import { checkInput } from "./members.js";
import { checkShape, invalidRequest } from "./shape.js";
import type { HeaderList } from "./internal.js";
import type { Input, Operation } from "./operation.js";
import type { HeadersInput } from "./types.js";

/** A request without its headers. */
interface EncodedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly body: string | undefined;
}

/**
 * The request an input stands for, without the body that lines make. Throws a tagged failure for an input that
 * must not be sent.
 */
export function encodeRequest(operation: Operation, input: unknown): EncodedRequest {
  checkShape(operation, input);
  checkInput(operation, input);
  const { method, query, payload, texts, continuation } = operation;
  if (continuation !== undefined) refuseMixedCursor(query, continuation, input);
  return {
    method,
    path: encodePath(operation, input) + encodeQuery(query, input),
    body: payload === null || payload === "lines" ? undefined : encodeBody(payload, texts, input),
  };
}

/**
 * A cursor carries the query it continues. A second query beside it would be ignored or contradict it,
 * so the call is refused before anything is sent.
 */
function refuseMixedCursor(query: readonly string[], continuation: readonly string[], input: Input) {
  if (isAbsent(input.cursor)) return;
  const field = query.find((name) => !isAbsent(input[name]) && !continuation.includes(name));
  if (field === undefined) return;
  throw taggedError({ _tag: "InvalidCursorError", message: `Cursor cannot be combined with ${field}` });
}

function encodePath(operation: Operation, input: Input) {
  let path = "";
  for (const segment of operation.path) {
    if (typeof segment === "string") path += segment;
    else if ("param" in segment) path += encodeSegments(segment.param, [readText(segment.param, input)]);
    else path += encodeSegments(segment.rest, readText(segment.rest, input).split("/"));
  }
  return path;
}

function readText(name: string, input: Input) {
  const value = input[name];
  if (isAbsent(value)) throw invalidRequest(`Missing ${name}`, name);
  return String(value);
}

function encodeSegments(name: string, segments: string[]) {
  // Nothing, one dot and two dots change which path is meant, escaped or not: the call would reach
  // another operation.
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw invalidRequest(`Invalid ${name}: ${JSON.stringify(segments.join("/"))}`, name);
  }
  return segments.map(encodeText).join("/");
}

function encodeQuery(names: readonly string[], input: Input) {
  const pairs: string[] = [];
  for (const name of names) appendQuery(pairs, name, input[name]);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Arrays repeat the name; the members of an object become `name[member]`. */
function appendQuery(pairs: string[], name: string, value: unknown) {
  if (isAbsent(value)) return;
  if (Array.isArray(value)) {
    for (const item of value) appendQuery(pairs, name, item);
  } else if (typeof value === "object") {
    for (const [key, member] of Object.entries(value as object)) {
      appendQuery(pairs, `${name}[${key}]`, member);
    }
  } else {
    pairs.push(`${encodeText(name)}=${encodeText(String(value))}`);
  }
}

/** @param texts The fields that stand for `{ text }` when they are text. */
function encodeBody(names: readonly string[], texts: readonly string[] | undefined, input: Input) {
  const body: Record<string, unknown> = {};
  for (const name of names) {
    const value = input[name];
    if (value !== undefined) body[name] = typeof value === "string" && texts?.includes(name) ? { text: value } : value;
  }
  try {
    return encodeJson(body);
  } catch (cause) {
    // A cycle or a BigInt: there is no text to send.
    throw new ClientError("Transport", { cause });
  }
}

/**
 * JSON that every parser accepts. JSON.stringify escapes half a surrogate pair, as cutting a string
 * inside an emoji leaves it, and strict parsers refuse the whole document for it.
 */
export function encodeJson(value: unknown) {
  const json = JSON.stringify(value);
  return json.includes("\\ud") ? replaceSurrogates(json) : json;
}

/**
 * Whole pairs are never escaped by JSON.stringify, so every surrogate escape is half a pair. The second
 * alternative steps over all other escapes: in `\\ud800` the text says `\ud800` and is left alone.
 */
function replaceSurrogates(json: string) {
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (match) => (match.length === 6 ? "\\ufffd" : match));
}

function encodeText(text: string) {
  return encodeURIComponent(text.toWellFormed());
}

function isAbsent(value: unknown) {
  return value === undefined || value === null;
}

export function createHeaders(headers: HeadersInput | null | undefined): HeaderList {
  return isAbsent(headers) ? [] : [...new Headers(headers as HeadersInit)];
}

/**
 * The client's headers under those of the operation under those of one call. `contentType` describes our own
 * body, if there is one, unless somebody said otherwise.
 */
export function mergeHeaders(
  client: HeaderList,
  operation: Operation["headers"],
  call: HeadersInput | null | undefined,
  contentType: string | undefined,
): HeaderList {
  // A list of its own: whoever carries the request may change it.
  const merged = [...override(override(client, Object.entries(operation ?? {})), createHeaders(call))];
  if (contentType !== undefined && !merged.some(([name]) => name === "content-type")) {
    merged.push(["content-type", contentType]);
  }
  return merged;
}

function override(base: HeaderList, over: HeaderList): HeaderList {
  if (over.length === 0) return base;
  return [...base.filter(([name]) => !over.some(([other]) => other === name)), ...over];
}
