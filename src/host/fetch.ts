import { onAbort } from "../client/abort.js";
import { transportError } from "../client/failures.js";
import type { TextStream } from "../client/internal.js";
import type { NativeConnection, NativeResponse } from "./connection.js";
import { EMBEDDED } from "./transport.js";

// Statuses whose answers never have a body, not even an empty one.
const NULL_BODY = new Set([204, 205, 304]);

// Unlike `Request.text()` it keeps a byte order mark. The host decides about it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A `fetch` that the host answers. The origin of the URL has no meaning. */
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
  // A program may forward the request of another client, which must not count as the program itself.
  const headers = [...request.headers].filter(([name]) => name !== EMBEDDED);
  const head = { method: request.method, url: pathname + search, headers };
  return connection.send(head, body, request.signal);
}

/** Returns the answer, or rejects with the reason of the signal as soon as it aborts. */
function unlessAborted(request: Request, answer: Promise<NativeResponse>): Promise<NativeResponse> {
  return new Promise((resolve, reject) => {
    const release = onRequestAbort(request, (reason) => {
      reject(reason);
      // A stream that arrives after the abort has no reader that could close it.
      answer.then(({ body }) => isStream(body) && body.cancel()).catch(() => {});
    });
    answer.finally(release).then(resolve, reject);
  });
}

function createBody(request: Request, status: number, body: NativeResponse["body"]) {
  if (isStream(body)) return streamBody(request, body);
  if (NULL_BODY.has(status)) return null;
  // Bytes, because a Response adds a content type to a string.
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

function isStream(body: NativeResponse["body"]): body is TextStream {
  return typeof body !== "string" && !(body instanceof Uint8Array);
}

/** Reads from the host when the program reads, never ahead. */
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
        // A reader with its own buffer receives it empty.
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

/** Reads the reason from the request and so keeps the request reachable. Without it the signal may be collected. */
function onRequestAbort(request: Request, callback: (reason: unknown) => void) {
  const notify = () => callback(request.signal.reason);
  if (!request.signal.aborted) return onAbort(request.signal, notify);
  notify();
  return () => {};
}
