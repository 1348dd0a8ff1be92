import { onAbort } from "../client/abort.js";
import { transportError } from "../client/failures.js";
import type { TextStream } from "../client/internal.js";
import type { NativeConnection, NativeResponse } from "./connection.js";

// The answers that never have a body, not even an empty one.
const NULL_BODY = new Set([204, 205, 304]);

// Unlike `Request.text()` it keeps a byte order mark: whether a body may have one is not decided here.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `fetch`, answered by the host itself. The origin of the URL means nothing. */
export function createFetch(connection: NativeConnection): typeof fetch {
  return async (input, init) => {
    const request = input instanceof Request && init === undefined ? input : new Request(input, init);
    request.signal.throwIfAborted();
    const { status, headers, body } = await unlessAborted(request, exchange(connection, request));
    return new Response(createBody(request, status, body), { status, headers });
  };
}

async function exchange(connection: NativeConnection, request: Request) {
  const { pathname, search } = new URL(request.url);
  if (!pathname.startsWith("/")) throw new TypeError(`A host has no answer for ${request.url}`);
  const body = request.body === null ? null : decoder.decode(await request.arrayBuffer());
  const head = { method: request.method, url: pathname + search, headers: [...request.headers] };
  return connection.send(head, body, request.signal);
}

/** The answer, or a rejection with the signal's reason as soon as it aborts. */
function unlessAborted(request: Request, answer: Promise<NativeResponse>): Promise<NativeResponse> {
  return new Promise((resolve, reject) => {
    const release = onRequestAbort(request, (reason) => {
      reject(reason);
      // A stream that arrives too late has no reader who could close it.
      answer.then(({ body }) => isStream(body) && body.cancel()).catch(() => {});
    });
    answer.finally(release).then(resolve, reject);
  });
}

function createBody(request: Request, status: number, body: NativeResponse["body"]) {
  if (isStream(body)) return streamBody(request, body);
  if (NULL_BODY.has(status)) return null;
  // Bytes, because a Response makes up a content type for a string.
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

function isStream(body: NativeResponse["body"]): body is TextStream {
  return typeof body !== "string" && !(body instanceof Uint8Array);
}

/** Reads from the host when somebody reads from it, never ahead. */
function streamBody(request: Request, body: TextStream) {
  const encoder = new TextEncoder();
  let ended = false;
  let release = () => {};
  const end = () => {
    ended = true;
    release();
    body.cancel();
  };
  const source: UnderlyingByteSource = {
    type: "bytes",
    start(controller) {
      release = onRequestAbort(request, (reason) => {
        end();
        controller.error(reason);
      });
    },
    async pull(controller) {
      try {
        const text = await nextText(body);
        if (ended) return;
        if (text !== null) return controller.enqueue(encoder.encode(text));
        end();
        controller.close();
        // A reader that brought its own buffer is answered with nothing in it.
        controller.byobRequest?.respond(0);
      } catch (error) {
        if (!ended) end();
        throw transportError(error);
      }
    },
    cancel: end,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** A byte stream refuses empty chunks. */
async function nextText(body: TextStream) {
  let text = await body.next();
  while (text === "") text = await body.next();
  return text;
}

/** The reason is asked from the request, which keeps it reachable: its signal may end with it. */
function onRequestAbort(request: Request, callback: (reason: unknown) => void) {
  const notify = () => callback(request.signal.reason);
  if (!request.signal.aborted) return onAbort(request.signal, notify);
  notify();
  return () => {};
}
