"use strict";

/**
 * @typedef {import("./internal.js").TextStream} TextStream
 * @typedef {import("./internal.js").Transport} Transport
 */

/**
 * The transport over the network, or over anything else that has the form of `fetch`.
 *
 * @param {Pick<import("./index.js").ClientOptions, "baseUrl" | "fetch">} options
 * @returns {Transport}
 */
function createFetchTransport(options) {
  const prefix = readPrefix(options.baseUrl);
  // Looked up once, and called without a receiver, which is how browsers want it called.
  const fetch = options.fetch ?? globalThis.fetch;
  if (typeof fetch !== "function") throw new TypeError("There is no global fetch: give createClient one");
  return async ({ method, path, headers, body, signal }) => {
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
 * The part of the base URL that stands before every path. It may have a path of its own.
 *
 * @param {unknown} baseUrl
 */
function readPrefix(baseUrl) {
  if (typeof baseUrl !== "string" || !URL.canParse(baseUrl)) {
    throw new TypeError(`createClient needs an absolute baseUrl, got ${JSON.stringify(baseUrl)}`);
  }
  const url = new URL(baseUrl);
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("fetch takes no user and password in a URL: give createClient an authorization header");
  }
  url.search = "";
  url.hash = "";
  return url.href.replace(/\/+$/, "");
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @returns {TextStream}
 */
function decodeBody(body) {
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

module.exports = { createFetchTransport };
