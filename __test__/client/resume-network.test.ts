import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, resumeEvents } from "../../dist/client/index.js";
import { createRandom, pick } from "../random.js";
import { rejection } from "./support";

const COUNT = 400;
const sessionID = "ses_1";
const notFound = { _tag: "SessionNotFoundError", sessionID, message: "All events are sent" };
const event = (seq: number) => ({ id: `evt_${seq}`, durable: { seq }, data: { text: "é".repeat(seq % 50) } });
const frame = (seq: number) => Buffer.from(`data: ${JSON.stringify(event(seq))}\n\n`);

const pacing = { minDelayMs: 1, maxDelayMs: 4 };

/** Answers one connection: sends some events after `after`, then breaks. */
type Break = (response: ServerResponse, after: number, size: number) => void;

function send(response: ServerResponse, after: number, size: number) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const last = Math.min(after + size, COUNT);
  for (let seq = after + 1; seq <= last; seq += 1) response.write(frame(seq));
  return last;
}

/** All ways in which a connection can break. */
const breaks: Record<string, Break> = {
  resetBeforeHeaders: (response) => response.destroy(),
  resetBehindAnEvent(response, after, size) {
    send(response, after, size);
    response.write(": heartbeat\n\n", () => response.destroy());
  },
  resetWithinAnEvent(response, after, size) {
    const last = send(response, after, size);
    const next = frame(last + 1);
    response.write(next.subarray(0, size % next.length), () => response.destroy());
  },
  closed(response, after, size) {
    send(response, after, size);
    response.end();
  },
  closedWithoutEvents: (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(),
  repeated(response, after, size) {
    send(response, Math.max(0, after - size), size * 2);
    response.end();
  },
  gateway: (response) => void response.writeHead(502, { "content-type": "text/html" }).end("<html>"),
  overloaded: (response) => void response.writeHead(503, { "content-type": "text/html" }).end("<html>"),
  closing(response) {
    const body = JSON.stringify({ _tag: "ServiceUnavailableError", message: "closing" });
    response.writeHead(503, { "content-type": "application/json" }).end(body);
  },
};

function sendEnd(response: ServerResponse) {
  response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify(notFound));
}

async function listen(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A server whose connections all break, each in a random way, until all events are sent. */
async function startServer(seed: number) {
  const random = createRandom(seed);
  const kinds = Object.keys(breaks);
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const after = Number(new URL(request.url!, "http://host").searchParams.get("after") ?? 0);
    if (after === COUNT) return sendEnd(response);
    const kind = pick(random, kinds);
    seen.add(kind);
    breaks[kind]?.(response, after, pick(random, [1, 2, 3, 5, 8, 13]));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

test.each([1, 2, 3])("no event is lost or repeated by a server that breaks every connection (%i)", async (seed) => {
  const server = await startServer(seed);
  const client = createClient({ baseUrl: server.url });
  const events: unknown[] = [];
  const reading = async () => {
    for await (const one of resumeEvents(client, { sessionID, ...pacing })) events.push(one);
  };
  await expect(rejection(reading())).resolves.toMatchObject(notFound);
  expect(events).toEqual(Array.from({ length: COUNT }, (_, index) => event(index + 1)));
  expect([...server.seen].sort()).toEqual(Object.keys(breaks).sort());
  await server.close();
});

test("reading continues when a server stops and starts again at the same address", async () => {
  const first = createServer((_, response) => {
    response.setHeader("connection", "close");
    send(response, 0, 3);
    response.end();
    first.close();
  });
  const asked: unknown[] = [];
  const second = createServer(({ url }, response) => {
    asked.push(url);
    sendEnd(response);
  });
  const port = await listen(first);
  const refusals: unknown[] = [];
  const onRetry = ({ failure }: { failure: Error & { cause?: any } }) => {
    const code = failure.cause?.cause?.code;
    if (code !== undefined && refusals.push(code) === 3) second.listen(port, "127.0.0.1");
  };
  const seqs: number[] = [];
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
  const reading = async () => {
    for await (const one of resumeEvents(client, { sessionID, ...pacing, onRetry })) seqs.push(one.durable.seq);
  };
  await expect(rejection(reading())).resolves.toMatchObject(notFound);
  expect([seqs, refusals.slice(0, 3)]).toEqual([[1, 2, 3], Array(3).fill("ECONNREFUSED")]);
  expect(asked).toEqual([`/api/session/${sessionID}/event?after=3`]);
  await new Promise((resolve) => second.close(resolve));
});

test("a new iterator continues after the last event of a reader that stopped", async () => {
  const server = await startServer(4);
  const client = createClient({ baseUrl: server.url });
  const seqs: number[] = [];
  while (seqs.length < COUNT) {
    const size = seqs.length + 37;
    for await (const one of resumeEvents(client, { sessionID, after: seqs.at(-1), ...pacing })) {
      if (seqs.push(one.durable.seq) === Math.min(size, COUNT)) break;
    }
  }
  expect(seqs).toEqual(Array.from({ length: COUNT }, (_, index) => index + 1));
  await server.close();
});
