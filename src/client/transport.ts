import { takeAuthorization } from "./credentials.js";
import type { TextStream, Transport } from "./internal.js";
import type { ClientOptions } from "./types.js";

/** The transport over the network, or over a function with the form of `fetch`. */
export function createFetchTransport(options: Pick<ClientOptions, "baseUrl" | "fetch">): Transport {
  const { prefix, authorization } = readAddress(options.baseUrl);
  // Read once, and called without a receiver, because browsers refuse another receiver.
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
 * Returns the part of the base URL before every path, and the header for its user and password. The base URL may have
 * a path. No failure shows the text, because it may contain a password.
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
      // A chunk may end inside the first character. Then there is no text yet.
      for (let text = ""; !ended;) {
        const { done, value } = await reader.read();
        ended = done;
        text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== "") return text;
      }
      return null;
    },
    cancel() {
      // The reader of the body has received its failure already.
      reader.cancel().catch(() => {});
    },
  };
}
