import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../../dist/client/index.js";
import { joinLines } from "../../dist/client/lines.js";
import { finished, openBody, openTestHost } from "./embedded-support";
import { collect, createTestClient, deferred, json, now, pending, rejection, settle } from "./support";

const LINES = { "content-type": "application/x-ndjson" };
const done = { done: true, value: undefined };
const cut = { name: "ClientError", reason: "Transport" };

function lineResponse(pieces: Iterable<string | Uint8Array>, headers: Record<string, string> = LINES) {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? Buffer.from(piece) : piece);
      controller.close();
    },
  });
  return new Response(body, { headers });
}

/** The iterator of an export whose body consists of these pieces. */
function exported(pieces: Iterable<string | Uint8Array>, headers?: Record<string, string>) {
  const { client } = createTestClient(() => lineResponse(pieces, headers));
  return client.sessions.export({ sessionID: "ses_1" })[Symbol.asyncIterator]();
}

describe("received lines", () => {
  const text = '{"a":"\u00e9"}\n{"b":"\ud83d\ude00\\n"}\n\n{}\n';
  const lines = ['{"a":"\u00e9"}', '{"b":"\ud83d\ude00\\n"}', "", "{}"];

  test("are separated correctly wherever the body is split", async () => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at += 1) {
      await expect(collect(exported([bytes.subarray(0, at), bytes.subarray(at)]))).resolves.toEqual(lines);
    }
    await expect(collect(exported([...bytes].map((byte) => Uint8Array.of(byte))))).resolves.toEqual(lines);
  });

  test("may be empty, or arrive many in one piece", async () => {
    await expect(collect(exported([]))).resolves.toEqual([]);
    const many = Array.from({ length: 20_000 }, (_, n) => `{"seq":${n}}`);
    await expect(collect(exported([many.join("\n") + "\n"]))).resolves.toEqual(many);
  });

  test("are requested with the first next()", async () => {
    const { client, requests } = createTestClient(() => lineResponse(["{}\n"]));
    const iterator = client.sessions.export({ sessionID: "ses_1" })[Symbol.asyncIterator]();
    await settle();
    expect(requests).toEqual([]);
    await expect(iterator.next()).resolves.toEqual({ done: false, value: "{}" });
    expect(requests).toEqual([{ url: "http://host/api/session/ses_1/export", method: "GET", headers: {}, body: null }]);
    await expect(iterator.next()).resolves.toEqual(done);
  });

  test("close the body when the reader stops", async () => {
    const state = { cancelled: false };
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from("1\n2\n")),
      cancel: () => void (state.cancelled = true),
    });
    const { client } = createTestClient(() => new Response(body, { headers: LINES }));
    for await (const line of client.sessions.export({ sessionID: "ses_1" })) {
      expect(line).toBe("1");
      break;
    }
    expect(state.cancelled).toBe(true);
  });

  test("stop on abort", async () => {
    const controller = new AbortController();
    const body = new ReadableStream({ start: (given) => given.enqueue(Buffer.from("1\n")) });
    const { client } = createTestClient(() => new Response(body, { headers: LINES }));
    const source = client.sessions.export({ sessionID: "ses_1" }, { signal: controller.signal });
    const iterator = source[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = rejection(iterator.next());
    controller.abort("enough");
    await expect(waiting).resolves.toMatchObject({ ...cut, cause: "enough" });
  });

  test("are pulled one text at a time from a host in memory", async () => {
    const source = openBody("application/x-ndjson");
    const { host } = await openTestHost(() => source.body);
    const iterator = host.sessions.export({ sessionID: "ses_1" })[Symbol.asyncIterator]();
    source.send("1\n2\n");
    await expect(iterator.next()).resolves.toEqual({ done: false, value: "1" });
    await expect(iterator.next()).resolves.toEqual({ done: false, value: "2" });
    expect(source.state.pulls).toBe(1);
    source.fail(new Error("the host is closed"));
    await expect(rejection(iterator.next())).resolves.toMatchObject({
      ...cut,
      cause: { message: "the host is closed" },
    });
  });
});

describe("an incomplete body of lines rejects", () => {
  test.each([
    ["within a line", ["1\n", "2"]],
    ["within a character", ["1\n", Uint8Array.of(0xc3)]],
  ])("if it ends %s", async (_, pieces) => {
    const iterator = exported(pieces);
    await expect(iterator.next()).resolves.toEqual({ done: false, value: "1" });
    await expect(rejection(iterator.next())).resolves.toMatchObject({
      ...cut,
      cause: { message: "The body ended within a line" },
    });
    await expect(iterator.next()).resolves.toEqual(done);
  });

  test("if it breaks between two lines", async () => {
    const failure = new Error("terminated");
    const pieces = [Buffer.from("1\n")];
    const body = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.error(failure);
        else controller.enqueue(piece);
      },
    });
    const { client } = createTestClient(() => new Response(body, { headers: LINES }));
    const iterator = client.sessions.export({ sessionID: "ses_1" })[Symbol.asyncIterator]();
    await expect(iterator.next()).resolves.toEqual({ done: false, value: "1" });
    const error = await rejection(iterator.next());
    expect(error).toMatchObject(cut);
    expect(error.cause).toBe(failure);
  });

  test("if a real connection is lost", async () => {
    const server = http.createServer((_, response) => {
      response.writeHead(200, LINES);
      response.write("1\n", () => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}` });
    await expect(rejection(collect(client.sessions.export({ sessionID: "ses_1" })))).resolves.toMatchObject(cut);
    server.close();
    await once(server, "close");
  });

  test("if it has another content type", async () => {
    await expect(rejection(exported([], { "content-type": "text/event-stream" }).next())).resolves.toMatchObject({
      reason: "UnsupportedContentType",
      cause: { contentType: "text/event-stream" },
    });
    const none = createTestClient(() => new Response(null, { headers: LINES })).client;
    await expect(collect(none.sessions.export({ sessionID: "ses_1" }))).rejects.toMatchObject({
      reason: "MalformedResponse",
    });
    const missing = { _tag: "SessionNotFoundError", sessionID: "ses_1", message: "no" };
    const refused = createTestClient(() => json(missing, 404)).client.sessions.export({ sessionID: "ses_1" });
    const error = await rejection(collect(refused));
    expect({ ...error }).toEqual(missing);
  });

  test("if a line is larger than 256 MiB", async () => {
    const filler = "x".repeat(1024 * 1024);
    const line = (megabytes: number) => [...Array<string>(megabytes).fill(filler), "\n"];
    const refused = {
      name: "ClientError",
      reason: "MalformedResponse",
      cause: { message: "A line larger than 256 MiB" },
    };
    await expect(collect(exported([...line(255), ...line(16)]))).resolves.toHaveLength(2);
    await expect(rejection(collect(exported(line(257))))).resolves.toMatchObject(refused);
    await expect(rejection(collect(exported([line(257).join("")])))).resolves.toMatchObject(refused);
  });
});

describe("sent lines", () => {
  async function* slowly(given: string[]) {
    for (const line of given) {
      await settle();
      yield line;
    }
  }

  test.each([
    ["an array", ["1", "2"]],
    ["an array of lines with line ends", ["1\n", "2\n"]],
    ["any iterable", new Set(["1", "2"])],
    ["an asynchronous iterable", slowly(["1", "2"])],
    ["a string", "1\n2"],
    ["a string that ends with a line end", "1\n2\n"],
    ["a text that was split at line ends", "1\n2\n".split("\n")],
  ])("may be %s", async (_, lines) => {
    const { client, requests } = createTestClient(() => json({ data: { applied: 2 } }));
    await expect(client.sessions.import(lines)).resolves.toEqual({ applied: 2 });
    expect(requests).toEqual([
      { url: "http://host/api/session/import", method: "POST", headers: LINES, body: "1\n2\n" },
    ]);
  });

  test("may be the received lines of an export", async () => {
    const { client, requests } = createTestClient(({ method }) =>
      method === "GET" ? lineResponse(["1\n", "2\n"]) : json({ data: null }),
    );
    await client.sessions.import(client.sessions.export({ sessionID: "ses_1" }));
    expect(requests.map(({ body }) => body)).toEqual([null, "1\n2\n"]);
  });

  test("reach a host in memory as one text", async () => {
    const { host, requests } = await openTestHost(() => finished('{"data":null}'));
    await host.sessions.import(["1", "2"]);
    const headers = [...Object.entries(LINES), ["x-opencode-embedded", "1"]];
    expect(requests).toEqual([{ method: "POST", url: "/api/session/import", headers, body: "1\n2\n" }]);
  });

  test.each([
    ["nothing", undefined, "Expected lines, got undefined"],
    ["a number", 5, "Expected lines, got number"],
    ["null", null, "Expected lines, got null"],
    ["objects", [{}], "Expected lines of text, got object"],
    ["bytes", slowly([Buffer.from("1") as never]), "Expected lines of text, got object"],
    ["a list with a hole", ["1", null], "Expected lines of text, got null"],
  ])("are not %s", async (_, lines, message) => {
    const { client, requests } = createTestClient(() => json({ data: null }));
    const error = await rejection(client.sessions.import(lines));
    expect({ ...error }).toEqual({ _tag: "InvalidRequestError", message, kind: "Payload" });
    expect(requests).toEqual([]);
  });

  test("share one size limit", async () => {
    await expect(joinLines(["12", "34"], undefined, 6)).resolves.toBe("12\n34\n");
    await expect(rejection(joinLines(["12", "34"], undefined, 5))).resolves.toMatchObject({
      _tag: "InvalidRequestError",
      message: "The lines have more than the 5 characters that one request carries",
    });
  });

  test("are not sent if their source fails, and the call rejects with the error of the source", async () => {
    const failure = new Error("disk");
    const { client, requests } = createTestClient(() => json({ data: null }));
    const source = (async function* () {
      yield "1";
      throw failure;
    })();
    expect(await rejection(client.sessions.import(source))).toBe(failure);
    expect(requests).toEqual([]);
  });

  test("are not sent after an abort, and their source is not read further", async () => {
    const controller = new AbortController();
    const next = deferred<void>();
    const asked: string[] = [];
    const source = (async function* () {
      try {
        asked.push("1");
        yield "1";
        await next.promise;
        asked.push("2");
        yield "2";
        asked.push("3");
      } finally {
        asked.push("closed");
      }
    })();
    const { client, requests } = createTestClient(() => json({ data: null }));
    const call = client.sessions.import(source, { signal: controller.signal });
    await expect(now(call)).resolves.toBe(pending);
    controller.abort("enough");
    await expect(rejection(call)).resolves.toMatchObject({ ...cut, cause: "enough" });
    next.resolve();
    await settle();
    expect(asked).toEqual(["1", "2", "closed"]);
    expect(requests).toEqual([]);
  });
});

test("names of three parts make nested groups", async () => {
  const { client, requests } = createTestClient(() => json({ data: [] }));
  await expect(client.sessions.inbox.list({ sessionID: "ses_1" })).resolves.toEqual([]);
  expect(requests.map(({ url }) => url)).toEqual(["http://host/api/session/ses_1/inbox"]);
});
