// MCP servers whose answers to calls a test chooses.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { OpenCodeOptions } from "../../index.js";
import type { Setup } from "../embedded/support";
import { scripted } from "../mcp/support";
import type { Frame } from "./streams";

/** The id of the request in an answer. */
export const ID = "$id";

/** The ways in which an answer arrives: lines of a local server, a body or events of a remote one. */
export const WAYS = ["lines", "body", "events"] as const;
export type Way = (typeof WAYS)[number];

/** The MCP servers of one host. Each has the tool `raw`. */
export interface Servers {
  readonly mcp: NonNullable<OpenCodeOptions["mcp"]>;
  /** Chooses the answer to the next calls. */
  choose(way: Way, answer: Buffer): void;
}

const remote: Server[] = [];

afterEach(() => {
  for (const server of remote.splice(0)) server.close().closeAllConnections();
});

/** Starts the remote servers, and returns how a host reaches all. */
export async function startServers(setup: Setup, timeout: { startup: number; request: number }): Promise<Servers> {
  const file = path.join(setup.root, "answer");
  const answers: Record<"body" | "events", Buffer> = { body: Buffer.of(), events: Buffer.of() };
  const [body, events] = await Promise.all([
    serve("application/json", () => answers.body),
    serve("text/event-stream", () => answers.events),
  ]);
  return {
    mcp: { timeout, servers: { lines: scripted("raw", file), body, events } },
    choose(way, answer) {
      if (way === "lines") writeFileSync(file, answer);
      else answers[way] = answer;
    },
  };
}

/** The bytes of an answer. */
export function writeAnswer(way: Way, messages: readonly Frame[]): Buffer {
  const texts = messages.map((message) => (typeof message === "string" ? message : JSON.stringify(message)));
  if (way === "lines") return Buffer.from(texts.map((text) => `${text.replaceAll(/[\r\n]+/g, "")}\n`).join(""));
  if (way === "events") return Buffer.from(texts.map((text) => `data: ${text}\n\n`).join(""));
  return Buffer.from(texts.length === 1 ? texts.join("") : `[${texts.join(",")}]`);
}

async function serve(type: string, answer: () => Buffer) {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "1" },
    },
    "tools/list": { tools: [{ name: "raw", inputSchema: { type: "object" } }] },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const message = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
      if (message.id === undefined) return void response.writeHead(202).end();
      const result = results[message.method];
      if (result !== undefined) {
        response.writeHead(200, { "content-type": "application/json" });
        return void response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
      }
      const bytes = answer().toString("latin1").replaceAll(`"${ID}"`, String(message.id));
      response.writeHead(200, { "content-type": type }).end(Buffer.from(bytes, "latin1"));
    });
  }).listen(0, "127.0.0.1");
  remote.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return { type: "remote", url: `http://127.0.0.1:${port}/mcp`, oauth: false } as const;
}
