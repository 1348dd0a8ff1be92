import { ClientError } from "./errors.js";
import { taggedError, transportError } from "./failures.js";
import { malformed, parseObject } from "./json.js";
import type { TextStream, TransportResponse } from "./internal.js";
import type { Operation } from "./operation.js";

/** The statuses of failures that every operation can have. */
const COMMON = [400, 401, 500, 503];

/** Reads the value of a call. Throws the declared failure, or a ClientError. The contract defines the type. */
export async function readValue<T>({ errors, unwrap }: Operation, response: TransportResponse): Promise<T> {
  await expectStatus(200, errors, response);
  const body = await readJson(response);
  return (unwrap ? dataOf(body) : body) as T;
}

/** Reads the answer of a call without a value. Throws the declared failure, or a ClientError. */
export async function expectNothing({ errors }: Operation, response: TransportResponse): Promise<void> {
  await expectStatus(204, errors, response);
  discard(response);
}

/** Reads the bytes of the body. Throws the declared failure, or a ClientError. */
export async function readBytes({ errors }: Operation, response: TransportResponse): Promise<Uint8Array> {
  await expectStatus(200, errors, response);
  return arrived(response.bytes());
}

/** Reads the Page in the body. Throws the declared failure, or a ClientError. */
export async function readPage<P>({ errors }: Operation, response: TransportResponse): Promise<P> {
  await expectStatus(200, errors, response);
  const page: unknown = toPage(await readJson(response));
  return page as P;
}

/** Opens the body of an answer with events or lines. Throws the declared failure, or a ClientError. */
export async function readElements(
  { errors }: Operation,
  response: TransportResponse,
  contentType: string,
): Promise<TextStream> {
  await expectStatus(200, errors, response);
  expectType(response, contentType);
  const stream = response.stream();
  if (stream === null) throw malformed("A stream without a body");
  return stream;
}

async function expectStatus(expected: number, errors: Operation["errors"], response: TransportResponse) {
  if (response.status !== expected) throw await readFailure(errors, response);
}

async function readFailure(errors: Operation["errors"], response: TransportResponse) {
  const { status } = response;
  if ([...COMMON, ...(errors ?? [])].includes(status)) {
    const body = await readJson(response);
    // A body without a tag is not of this contract. A gateway has answered.
    if (typeof body._tag === "string") return taggedError(body);
  } else {
    discard(response);
  }
  return new ClientError("UnexpectedStatus", { cause: { status } });
}

async function readJson(response: TransportResponse): Promise<Record<string, unknown>> {
  expectType(response, "application/json");
  return response.json ? arrived(response.json()) : parseObject(await arrived(response.text()));
}

async function arrived<T>(body: Promise<T>): Promise<T> {
  try {
    return await body;
  } catch (error) {
    throw transportError(error);
  }
}

function expectType(response: TransportResponse, expected: string) {
  const contentType = response.header("content-type");
  // The common case is the header without parameters.
  if (contentType === expected || contentType?.split(";", 1)[0]?.trim().toLowerCase() === expected) return;
  discard(response);
  throw new ClientError("UnsupportedContentType", { cause: { status: response.status, contentType } });
}

function dataOf(body: Record<string, unknown>) {
  if (!Object.hasOwn(body, "data")) throw malformed("A body without data");
  return body.data;
}

/** Converts the envelope of the wire into a Page with `items`, `previous` and `next`. */
function toPage(body: Record<string, unknown>) {
  const { data, cursor } = body;
  if (!Array.isArray(data)) throw malformed("A page without data");
  const { previous, next } = (cursor ?? {}) as Record<string, unknown>;
  return {
    items: data,
    ...(typeof previous === "string" && { previous }),
    ...(typeof next === "string" && { next }),
  };
}

/** Closes a body that the client does not read, so that its connection is free at once. */
function discard(response: TransportResponse) {
  response.stream()?.cancel();
}
