"use strict";

/**
 * @typedef {import("../client/internal.js").TextStream} TextStream
 * @typedef {import("../client/internal.js").Transport} Transport
 */

/**
 * The transport in memory. Texts from end to end: a Request and a Response would cost more than the call.
 *
 * The core settles an aborted call itself, and it closes a stream that arrives after its reader has gone; the
 * signal is passed on so that the other side stops as well.
 *
 * @param {import("./connection.js").NativeConnection} connection
 * @returns {Transport}
 */
function createNativeTransport(connection) {
  return async (request) => {
    const { method, path: url, headers } = request;
    const response = await connection.send({ method, url, headers }, request.body ?? null, request.signal);
    const { body } = response;
    return {
      status: response.status,
      header: (name) => response.headers.find(([other]) => other === name)?.[1] ?? null,
      text: async () => (typeof body === "string" ? body : readAll(body)),
      bytes: async () => new TextEncoder().encode(typeof body === "string" ? body : await readAll(body)),
      stream: () => (typeof body === "string" ? once(body) : body),
    };
  };
}

/** @param {TextStream} body */
async function readAll(body) {
  let text = "";
  for (let piece = await body.next(); piece !== null; piece = await body.next()) text += piece;
  return text;
}

/**
 * @param {string} text
 * @returns {TextStream | null}
 */
function once(text) {
  if (text === "") return null;
  /** @type {string | null} */
  let rest = text;
  return {
    async next() {
      const piece = rest;
      rest = null;
      return piece;
    },
    cancel() {
      rest = null;
    },
  };
}

module.exports = { createNativeTransport };
