import { createOpencodeClient, type OpencodeClient } from "@opencode-ai/sdk/v2/client";
import type { OpenCodeHost } from "../../index.js";
import type { Answer } from "./contract";

export type Sdk = OpencodeClient["v2"];

/** The server for the requests of an SDK. */
export interface Transport {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** The transports to a host: in memory, and over a socket. Listeners that are opened here close with the host. */
export const transports: readonly [name: string, open: (host: OpenCodeHost) => Promise<Transport>][] = [
  ["in memory", async (host) => ({ name: "in memory", url: "http://any.host", headers: {}, fetch: host.fetch })],
  [
    "over the network",
    async (host) => {
      const { url, headers } = await host.listen();
      return { name: "over the network", url, headers, fetch };
    },
  ],
];

/** Creates the published SDK as its users do. */
export function createSdk({ url, headers, fetch }: Transport, directory?: string): Sdk {
  const options = directory === undefined ? {} : { directory };
  return createOpencodeClient({ baseUrl: url, headers, fetch, ...options }).v2;
}

/** Options for a stream of the SDK that fails on the first error instead of retrying endlessly. */
export const oneAttempt = (signal: AbortSignal) => ({ signal, sseMaxRetryAttempts: 1 });

/** A transport that records every answer except streams. */
export function recording(transport: Transport) {
  const answers: Omit<Answer, "operation">[] = [];
  const record = async (request: Request) => {
    const response = await transport.fetch(request);
    const type = response.headers.get("content-type") ?? undefined;
    if (type === "text/event-stream") answers.push({ status: response.status, type, body: [] });
    else answers.push({ status: response.status, type, body: parse(await response.clone().text(), type) });
    return response;
  };
  return { answers, transport: { ...transport, fetch: record as typeof fetch } };
}

function parse(text: string, type: string | undefined) {
  if (type === "application/json") return JSON.parse(text);
  return text === "" ? undefined : text;
}

/** Reads up to and including the first event that satisfies the predicate. */
export async function until(stream: AsyncIterator<unknown>, fits: (event: any) => boolean) {
  const events: any[] = [];
  while (!fits(events.at(-1) ?? {})) {
    const { done, value } = await stream.next();
    if (done) throw new Error(`The stream ended after ${JSON.stringify(events.at(-1))}`);
    events.push(value);
  }
  return events;
}

export const isOf = (type: string) => (event: { type?: string }) => event.type === type;
