import { malformed, parseJson, parseObject } from "../client/json.js";
import type { TextStream, Transport } from "../client/internal.js";
import { timers } from "./builtins.js";
import type { NativeConnection } from "./connection.js";

/**
 * The header of a request from the client of the embedding program. The host then refuses mistakes that the contract
 * tolerates, such as an unknown agent.
 */
export const EMBEDDED = "x-opencode-embedded";

/**
 * The transport in memory. It uses text only: a Request and a Response would cost more than the call.
 *
 * The core settles an aborted call itself, and closes a stream that arrives after its reader has gone. The signal is
 * passed on so that the native host stops as well.
 */
export function createNativeTransport(connection: NativeConnection): Transport {
  return async (request) => {
    const { method, path: url } = request;
    const headers = [...request.headers, [EMBEDDED, "1"] as [string, string]];
    const response = await connection.send({ method, url, headers }, request.body ?? null, request.signal);
    const { body } = response;
    return {
      status: response.status,
      header: (name) => response.headers.find(([other]) => other === name)?.[1] ?? null,
      text: () => readText(body),
      ...(response.isInLines && { json: () => readLines(body as TextStream) }),
      bytes: async () => (body instanceof Uint8Array ? body : new TextEncoder().encode(await readText(body))),
      stream: () => (typeof body === "string" || body instanceof Uint8Array ? once(body) : body),
    };
  };
}

async function readText(body: string | Uint8Array | TextStream) {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : readAll(body);
}

/**
 * Reads a large answer in lines: first the answer with an empty `data`, then arrays with its elements. Other work runs
 * between two lines.
 */
async function readLines(body: TextStream) {
  let answer: Record<string, unknown> | undefined;
  const data: unknown[] = [];
  for (let piece = await body.next(); piece !== null; piece = await body.next()) {
    for (const line of piece.split("\n")) {
      if (line === "") continue;
      if (answer === undefined) answer = parseObject(line);
      else for (const element of parseJson(line) as unknown[]) data.push(element);
      await new Promise<void>((resolve) => timers.setImmediate(resolve));
    }
  }
  if (answer === undefined) throw malformed("A large answer without lines");
  return { ...answer, data };
}

async function readAll(body: TextStream) {
  let text = "";
  for (let piece = await body.next(); piece !== null; piece = await body.next()) text += piece;
  return text;
}

function once(body: string | Uint8Array): TextStream | null {
  if (body.length === 0) return null;
  let rest: string | null = typeof body === "string" ? body : new TextDecoder().decode(body);
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
