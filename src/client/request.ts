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

/** Encodes an input as a request, without a body of lines. Throws a tagged failure if the input is wrong. */
export function encodeRequest(operation: Operation, input: unknown): EncodedRequest {
  checkShape(operation, input);
  checkInput(operation, input);
  const { method = "GET", query = [], payload, texts, continuation } = operation;
  if (continuation !== undefined) refuseMixedCursor(query, continuation, input);
  return {
    method,
    path: encodePath(operation, input) + encodeQuery(query, input),
    body: payload === undefined || payload === "lines" ? undefined : encodeBody(payload, texts, input),
  };
}

/**
 * Refuses a query beside a cursor. The cursor contains the query that it continues, so a second query would be
 * ignored or would contradict it.
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
  // An empty segment, `.` and `..` change the path, also if they are escaped. The call would reach another operation.
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

/** Adds a value to the query. An array repeats the name. The members of an object become `name[member]`. */
function appendQuery(pairs: string[], name: string, value: unknown) {
  if (isAbsent(value)) return;
  if (Array.isArray(value)) {
    for (const item of value) appendQuery(pairs, name, item);
  } else if (typeof value === "object" && "toJSON" in value && typeof value.toJSON === "function") {
    // The members of a date would be no members.
    appendQuery(pairs, name, value.toJSON(name));
  } else if (typeof value === "object") {
    for (const [key, member] of Object.entries(value as object)) {
      appendQuery(pairs, `${name}[${key}]`, member);
    }
  } else {
    pairs.push(`${encodeText(name)}=${encodeText(String(value))}`);
  }
}

/** @param texts Fields whose text is sent as `{ text }`. */
function encodeBody(names: readonly string[], texts: readonly string[] | undefined, input: Input) {
  const body: Record<string, unknown> = {};
  for (const name of names) {
    const value = input[name];
    if (value !== undefined) body[name] = typeof value === "string" && texts?.includes(name) ? { text: value } : value;
  }
  try {
    return encodeJson(body);
  } catch (cause) {
    // A cycle has no JSON.
    throw new ClientError("Transport", { cause });
  }
}

/**
 * Encodes JSON that every parser accepts. `JSON.stringify` escapes half of a surrogate pair, which remains if a
 * program cuts a string inside an emoji. Strict parsers refuse a document with such an escape.
 */
export function encodeJson(value: unknown) {
  const json = JSON.stringify(value);
  return json.includes("\\ud") ? replaceSurrogates(json) : json;
}

/**
 * Replaces half pairs. `JSON.stringify` never escapes whole pairs, so every surrogate escape is half a pair. The
 * second alternative skips all other escapes: the text of `\\ud800` is `\ud800`, which stays.
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
 * The headers of a request: those of the call win over those of the operation, which win over those of the client.
 * `contentType` is the type of our own body and only a default.
 */
export function mergeHeaders(
  client: HeaderList,
  operation: Operation["headers"],
  call: HeadersInput | null | undefined,
  contentType: string | undefined,
): HeaderList {
  // Always a new list, because the transport may change it.
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
