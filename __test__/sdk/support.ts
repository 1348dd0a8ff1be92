import { createOpencodeClient, type OpencodeClient } from "@opencode-ai/sdk/v2/client";
import type { OpenCodeHost } from "../../index.js";
import type { Answer } from "./contract";

export type Sdk = OpencodeClient["v2"];

/** What answers the requests of an SDK, and where. */
export interface Transport {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** The ways to a host: in memory, and through a socket. The host closes what is opened here. */
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

/** The published SDK, as its users make it. */
export function createSdk({ url, headers, fetch }: Transport, directory?: string): Sdk {
  const options = directory === undefined ? {} : { directory };
  return createOpencodeClient({ baseUrl: url, headers, fetch, ...options }).v2;
}

/** A stream of the SDK that gives up instead of trying for ever when something is wrong with it. */
export const oneAttempt = (signal: AbortSignal) => ({ signal, sseMaxRetryAttempts: 1 });

/** A transport that keeps every answer but those of streams. */
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

/** Reads up to and with the first event that fits. */
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
