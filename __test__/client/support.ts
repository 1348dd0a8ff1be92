import { getEventListeners } from "node:events";
import { connect } from "../../dist/client/core.js";
import { createFetchTransport } from "../../dist/client/transport.js";
import { createSampleOperations } from "./sample";

export interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

/** A client over a fetch that answers with `answer` and records the requests. */
export function createTestClient(
  answer: (sent: Sent, init: RequestInit) => Response | Promise<Response>,
  options: { baseUrl?: string; headers?: Record<string, string> } = {},
) {
  const requests: Sent[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const sent = {
      url,
      method: init.method as string,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body as string | null,
    };
    requests.push(sent);
    return answer(sent, init);
  };
  const transport = createFetchTransport({ baseUrl: options.baseUrl ?? "http://host", fetch: fetch as never });
  return { client: createSampleOperations(connect(transport, options.headers)), requests };
}

export function json(body: unknown, status = 200) {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}

export function events(chunks: Iterable<string | Uint8Array>) {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
      controller.close();
    },
  });
  return eventResponse(stream);
}

export function eventResponse(body: ReadableStream | null) {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** An event stream that the test fills. It records whether it was cancelled. */
export function openEvents() {
  let controller: ReadableStreamDefaultController;
  const state = { cancelled: false };
  const body = new ReadableStream({
    start(given) {
      controller = given;
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return {
    state,
    response: eventResponse(body),
    send: (event: unknown) => controller.enqueue(Buffer.from(`data: ${JSON.stringify(event)}\n\n`)),
    end: () => controller.close(),
    fail: (error: unknown) => controller.error(error),
  };
}

export function listenerCount(signal: AbortSignal) {
  return getEventListeners(signal, "abort").length;
}

/** The error that a promise rejects with. */
export async function rejection(promise: PromiseLike<unknown>): Promise<any> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("The promise did not reject");
}

/** All items of an iterable. */
export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}

/** A promise that the test settles. */
export function deferred<T = unknown>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((given) => (resolve = given));
  return { promise, resolve };
}

/** Runs all callbacks that are due, without letting time pass. */
export function settle() {
  return new Promise((resolve) => setImmediate(resolve));
}

export const pending = Symbol("pending");

/** The value of a promise that is settled, else `pending`. */
export async function now(promise: Promise<unknown>) {
  await settle();
  return Promise.race([promise, Promise.resolve(pending)]);
}
