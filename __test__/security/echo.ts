// A provider that repeats all received data: addresses, headers and bodies.

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";

/** Builds an answer from the received request. */
export type Answer = (echo: string, headers: http.IncomingHttpHeaders) => Said;

/** An answer of the provider. A text is a stream of Chat Completions. */
export interface Said {
  status?: number;
  headers?: http.OutgoingHttpHeaders;
  body: string;
}

export class EchoProvider {
  readonly #server: http.Server;
  readonly #answers: Answer[] = [];
  /** All received data, which shows whether a secret was sent at all. */
  received = "";

  private constructor(server: http.Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start() {
    const server = http.createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new EchoProvider(server);
  }

  get host() {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Queues answers, one for each request. */
  answer(...answers: Answer[]) {
    this.#answers.push(...answers);
  }

  async close() {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse) {
    for await (const chunk of request) void chunk;
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const decoded = basic === undefined ? [] : [Buffer.from(basic, "base64").toString()];
    const echo = [`POST ${request.url}`, decodeURIComponent(request.url!), ...headers, ...decoded].join("\n");
    this.received += `${echo}\n`;
    const answer = this.#answers.shift() ?? (() => stream("Nothing was scripted."));
    const { status = 200, headers: more, body } = answer(echo, request.headers);
    response.writeHead(status, { "content-type": status < 300 ? "text/event-stream" : "application/json", ...more });
    response.end(body);
  }
}

/** All headers of a request as the text for another header. */
export function headerText(headers: http.IncomingHttpHeaders) {
  return Object.entries(headers)
    .map(([name, value]) => `${name} ${value}`)
    .join(" | ");
}

/** An answer with text, reasoning and calls of tools. */
export function stream(text: string, reasoning?: string, command?: string): Said {
  const deltas: object[] = [];
  if (reasoning !== undefined) deltas.push({ reasoning_content: reasoning });
  // In two pieces, so that no delta contains the whole text.
  for (const piece of [text.slice(0, 60), text.slice(60)]) deltas.push({ content: piece });
  if (command !== undefined) {
    const call = { name: "bash", arguments: JSON.stringify({ command }) };
    deltas.push({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] });
  }
  const chunks: object[] = deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
  const finish = command === undefined ? "stop" : "tool_calls";
  chunks.push({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  return { body: `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n` };
}

/** A failure inside a stream. */
export function streamedError(message: string): Said {
  return { body: `data: ${JSON.stringify({ error: { message, type: "invalid_request_error" } })}\n\n` };
}
