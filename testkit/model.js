"use strict";

// A model for tests: a server on loopback that sends scripted replies in the protocol of each request.

const http = require("node:http");
const { once } = require("node:events");
const { setTimeout: sleep } = require("node:timers/promises");
const { renderReply, UNSCRIPTED } = require("./reply.js");
const { findViolations } = require("./request-rules.js");
const anthropic = require("./anthropic.js");
const bedrock = require("./bedrock.js");
const google = require("./google.js");
const responses = require("./responses.js");

/**
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("./reply.js").RenderedReply} RenderedReply
 * @typedef {import("./reply.js").Dialect} Dialect
 *
 * @typedef {object} ModelRequest A request that the model received.
 * @property {string} path
 * @property {http.IncomingHttpHeaders} headers
 * @property {string} text The unparsed body.
 * @property {any} body The parsed body. Undefined if it is not JSON.
 * @property {boolean} aborted True if the client disconnected before the end of the answer.
 * @property {Promise<void>} closed Resolves when the answer is complete or the connection is closed.
 *
 * @typedef {{ promise: Promise<void>, resolve: () => void }} Latch
 */

/** @type {Record<string, { dialect?: Dialect, findViolations: (body: any, isPaused: boolean) => string[] }>} */
const PROTOCOLS = {
  "/v1/chat/completions": { findViolations },
  "/v1/model/m1/converse-stream": { dialect: bedrock, findViolations: bedrock.findViolations },
  "/v1/messages": { dialect: anthropic, findViolations: anthropic.findViolations },
  "/v1/models/m1:streamRawPredict": { dialect: anthropic, findViolations: anthropic.findVertexViolations },
  "/v1/models/m1:streamGenerateContent?alt=sse": { dialect: google, findViolations: google.findViolations },
  "/v1/responses": { dialect: responses, findViolations: responses.findViolations },
};

class ScriptedModel {
  /** @type {ModelRequest[]} */
  requests = [];
  /** @type {string[]} The violations in the requests. Tests require it to be empty. */
  violations = [];
  #server;
  /** @type {{ reply: Reply, rendered: RenderedReply }[]} */
  #replies = [];
  #isPaused = false; // True after a paused answer.
  /** @type {Map<string, { reached: Latch, released: Latch }>} */
  #gates = new Map();
  /** @type {Map<number, Latch>} */
  #counts = new Map();
  /** @type {WeakSet<http.ServerResponse>} Responses that a reply cut. */
  #cut = new WeakSet();

  /** @param {http.Server} server Must be listening. */
  constructor(server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  /** The address before `/chat/completions`, `/messages` and `/responses`. */
  get url() {
    const address = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${address.port}/v1`;
  }

  /**
   * Queues replies. Each answers one request, in order. Later requests receive a fixed text.
   *
   * @param {...Reply} replies
   */
  reply(...replies) {
    // Rendered before the request, so that the answer in the usual protocol takes no extra time.
    this.#replies.push(...replies.map((reply) => ({ reply, rendered: renderReply(reply) })));
  }

  /**
   * Resolves when a reply waits at the gate.
   *
   * @param {string} gate
   */
  reached(gate) {
    return this.#gate(gate).reached.promise;
  }

  /**
   * Releases the gate for a reply that waits there or reaches it later.
   *
   * @param {string} gate
   */
  release(gate) {
    this.#gate(gate).released.resolve();
  }

  /**
   * Resolves with the request of this number when it has arrived.
   *
   * @param {number} count
   * @returns {Promise<ModelRequest>}
   */
  async received(count) {
    if (this.requests.length < count) await lookUp(this.#counts, count, createLatch).promise;
    return /** @type {ModelRequest} */ (this.requests[count - 1]);
  }

  /**
   * The configuration with which a host uses this model, with more keys if given.
   *
   * @param {Record<string, any>} [extra]
   * @param {string} [npm] The package that selects the protocol.
   */
  config(extra, npm = "@ai-sdk/openai-compatible") {
    return {
      model: "mock/m1",
      provider: {
        mock: {
          npm,
          name: "Mock",
          options: { baseURL: this.url, apiKey: "secret" },
          models: { m1: { name: "Mock 1", tool_call: true, limit: { context: 200_000, output: 8_000 } } },
        },
      },
      ...extra,
    };
  }

  /** Stops listening and drops every connection. */
  async close() {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /**
   * @param {http.IncomingMessage} request
   * @param {http.ServerResponse} response
   */
  async #serve(request, response) {
    const text = await readBody(request);
    if (text === undefined) return;
    const protocol = PROTOCOLS[request.url ?? ""];
    if (request.method !== "POST" || protocol === undefined) {
      this.violations.push(`unexpected request: ${request.method} ${request.url}`);
      response.writeHead(404).end();
      return;
    }
    const { reply, rendered } = this.#replies.shift() ?? { reply: { text: UNSCRIPTED } };
    const isReady = rendered !== undefined && protocol.dialect === undefined;
    const chosen = isReady ? rendered : renderReply(reply, protocol.dialect);
    this.#record(request, response, text, protocol.findViolations);
    this.#isPaused ||= reply.finish === "pause_turn";
    // Writing fails if the client has disconnected. The record of the request contains that.
    await this.#answer(chosen, response).catch(() => {});
  }

  /**
   * @param {http.IncomingMessage} request
   * @param {http.ServerResponse} response
   * @param {string} text
   * @param {(body: any, isPaused: boolean) => string[]} find Returns the violations in a body.
   */
  #record({ headers, url = "" }, response, text, find) {
    const closed = createLatch();
    /** @type {ModelRequest} */
    const record = { path: url, headers, text, body: parse(text), aborted: false, closed: closed.promise };
    response.on("close", () => {
      record.aborted = !response.writableFinished && !this.#cut.has(response);
      closed.resolve();
    });
    this.requests.push(record);
    const count = this.requests.length;
    this.violations.push(...find(record.body, this.#isPaused).map((problem) => `request ${count}: ${problem}`));
    this.#counts.get(count)?.resolve();
    return record;
  }

  /**
   * @param {RenderedReply} reply
   * @param {http.ServerResponse} response
   */
  async #answer({ status, headers, pieces, gate, delayMs, cut }, response) {
    response.writeHead(status, headers).flushHeaders();
    for (const [index, piece] of pieces.entries()) {
      const isLast = index === pieces.length - 1;
      if (index > 0 && delayMs > 0) await sleep(delayMs);
      if (isLast && gate !== undefined) await this.#pass(gate, response);
      if (isLast && !cut) response.end(piece);
      else await write(response, piece);
    }
    if (!cut) return;
    this.#cut.add(response);
    response.destroy();
  }

  /**
   * @param {string} name
   * @param {http.ServerResponse} response
   */
  async #pass(name, response) {
    const { reached, released } = this.#gate(name);
    reached.resolve();
    await Promise.race([released.promise, once(response, "close")]);
  }

  /** @param {string} name */
  #gate(name) {
    return lookUp(this.#gates, name, () => ({ reached: createLatch(), released: createLatch() }));
  }
}

/** Starts a model on a free port. */
async function startModel() {
  const server = http.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new ScriptedModel(server);
}

/**
 * The body of a request. Undefined if its client disconnected.
 *
 * @param {http.IncomingMessage} request
 */
async function readBody(request) {
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Resolves when the operating system has accepted the piece.
 *
 * @param {http.ServerResponse} response
 * @param {Buffer} piece
 * @returns {Promise<void>}
 */
function write(response, piece) {
  return new Promise((resolve, reject) => {
    response.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns {Latch} */
function createLatch() {
  let resolve = () => {};
  /** @type {Promise<void>} */
  const promise = new Promise((given) => (resolve = given));
  return { promise, resolve };
}

/**
 * @template Key, Value
 * @param {Map<Key, Value>} map
 * @param {Key} key
 * @param {() => Value} create
 * @returns {Value}
 */
function lookUp(map, key, create) {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

module.exports = { startModel, UNSCRIPTED };
