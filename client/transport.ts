import { takeAuthorization } from "./credentials.js";
import type { TextStream, Transport } from "./internal.js";
import type { ClientOptions } from "./types.js";

/** The transport over the network, or over anything else that has the form of `fetch`. */
export function createFetchTransport(options: Pick<ClientOptions, "baseUrl" | "fetch">): Transport {
  const { prefix, authorization } = readAddress(options.baseUrl);
  // Looked up once, and called without a receiver, which is how browsers want it called.
  const fetch = options.fetch ?? globalThis.fetch;
  if (typeof fetch !== "function") throw new TypeError("There is no global fetch: give createClient one");
  return async ({ method, path, headers, body, signal }) => {
    if (authorization !== undefined && !headers.some(([name]) => name === "authorization")) {
      headers.push(["authorization", authorization]);
    }
    const response = await fetch(prefix + path, {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
    });
    return {
      status: response.status,
      header: (name) => response.headers.get(name),
      text: () => response.text(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      stream: () => (response.body === null ? null : decodeBody(response.body)),
    };
  };
}

/**
 * The part of the base URL that stands before every path, and the header for the user and the password in it. It may
 * have a path of its own. A failure does not show the text: it may hold a password.
 */
function readAddress(baseUrl: unknown) {
  const url = typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  // `localhost:4096` is a URL with the scheme `localhost`, without a host.
  if (url === undefined || url.host === "") {
    const given =
      typeof baseUrl === "string" ? "a text that is no such address" : `${baseUrl === null ? null : typeof baseUrl}`;
    throw new TypeError(`createClient needs an absolute baseUrl such as "http://127.0.0.1:4096", got ${given}`);
  }
  const authorization = takeAuthorization(url);
  url.search = "";
  url.hash = "";
  return { prefix: url.href.replace(/\/+$/, ""), authorization };
}

function decodeBody(body: ReadableStream<Uint8Array>): TextStream {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let ended = false;
  return {
    async next() {
      // A chunk may hold nothing but the beginning of a character: then there is no text yet.
      for (let text = ""; !ended;) {
        const { done, value } = await reader.read();
        ended = done;
        text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== "") return text;
      }
      return null;
    },
    cancel() {
      // A body that broke has been reported to whoever read it.
      reader.cancel().catch(() => {});
    },
  };
}
