import { EVENT_LIMIT, EventParser } from "../../dist/client/sse.js";
import { collect, createTestClient, eventResponse, events, rejection } from "./support";

const FAILURE = "effect/httpapi/stream/failure";
const subscribe = (chunks: Iterable<string | Uint8Array>) =>
  collect(createTestClient(() => events(chunks)).client.events.subscribe());

/** The elements that the parser finds in a text that arrives in these pieces. */
function parse(...chunks: string[]) {
  const parser = new EventParser();
  const elements: unknown[] = [];
  const drain = () => {
    for (let element = parser.next(); element !== undefined; element = parser.next()) elements.push(element);
  };
  for (const chunk of chunks) {
    parser.push(chunk);
    drain();
  }
  parser.end();
  drain();
  return elements;
}

const cases: [name: string, text: string, elements: unknown[]][] = [
  ["one frame", 'data: {"a":1}\n\n', [{ a: 1 }]],
  ["several frames", 'data: {"a":1}\n\ndata: {"a":2}\n\ndata: {"a":3}\n\n', [{ a: 1 }, { a: 2 }, { a: 3 }]],
  ["CR LF", 'data: {"a":1}\r\n\r\ndata: {"a":2}\r\n\r\n', [{ a: 1 }, { a: 2 }]],
  ["CR alone", 'data: {"a":1}\r\rdata: {"a":2}\r\r', [{ a: 1 }, { a: 2 }]],
  ["mixed line ends", 'data: {"a":1}\r\n\ndata: {"a":2}\n\r\ndata: {"a":3}\r\r\n', [{ a: 1 }, { a: 2 }, { a: 3 }]],
  ["several data lines", 'data: {"a":\ndata: 1\ndata:}\n\n', [{ a: 1 }]],
  ["several data lines with CR", 'data: {"a":\rdata: 1\rdata:}\r\r', [{ a: 1 }]],
  ["no space after the colon", 'data:{"a":1}\n\n', [{ a: 1 }]],
  ["only one space is dropped", 'data:  {"a":1}\n\n', [{ a: 1 }]],
  ["a field without a colon", 'data\ndata: {"a":1}\n\n', [{ a: 1 }]],
  ["comments", ': heartbeat\n\n:\ndata: {"a":1}\n: inside\n\n: heartbeat\n\n', [{ a: 1 }]],
  ["unknown fields", 'id: 7\nretry: 5\nevent: message\nfoo\ndatabase: x\ndata: {"a":1}\n\n', [{ a: 1 }]],
  ["a name without data", `event: ${FAILURE}\n\ndata: {"a":1}\n\n`, [{ a: 1 }]],
  ["an unfinished frame", 'data: {"a":1}\n\ndata: {"a":2}\n', [{ a: 1 }, { a: 2 }]],
  ["an unfinished line", 'data: {"a":1}\n\ndata: {"a":2}', [{ a: 1 }, { a: 2 }]],
  ["an unfinished line that ends in CR", 'data: {"a":2}\r', [{ a: 2 }]],
  [
    "every length of UTF-8",
    'data: {"a":"a\u00e9\u20ac\ud83d\ude00\u2028"}\n\n',
    [{ a: "a\u00e9\u20ac\ud83d\ude00\u2028" }],
  ],
  ["empty lines", '\n\n\n\r\n\rdata: {"a":1}\n\n\n', [{ a: 1 }]],
  ["nothing", "", []],
];

describe.each(cases)("%s", (_, text, elements) => {
  test("is parsed in one piece", () => {
    expect(parse(text)).toEqual(elements);
  });

  test("is parsed if split at every character", () => {
    for (let at = 0; at <= text.length; at += 1) {
      expect(parse(text.slice(0, at), text.slice(at))).toEqual(elements);
    }
    expect(parse(...text)).toEqual(elements);
  });

  test("is parsed if split at every byte of a body", async () => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at += 1) {
      await expect(subscribe([bytes.subarray(0, at), bytes.subarray(at)])).resolves.toEqual(elements);
    }
    await expect(subscribe([...bytes].map((byte) => Uint8Array.of(byte)))).resolves.toEqual(elements);
  });
});

describe("failures", () => {
  test.each([
    ["data that is not JSON", "data: {\n\n"],
    ["half of an event at the end", 'data: {"a":'],
    ["null", "data: null\n\n"],
    ["a number", "data: 1\n\n"],
    ["no data", "data:\n\n"],
  ])("%s", async (_, text) => {
    const error = await rejection(subscribe([text]));
    expect(error).toMatchObject({ name: "ClientError", reason: "MalformedResponse" });
  });

  test("events before a malformed event are delivered", async () => {
    const { client } = createTestClient(() => events(['data: {"a":1}\n\ndata: }\n\ndata: {"a":2}\n\n']));
    const iterator = client.events.subscribe()[Symbol.asyncIterator]();
    await expect(iterator.next()).resolves.toEqual({ done: false, value: { a: 1 } });
    await expect(iterator.next()).rejects.toMatchObject({ reason: "MalformedResponse" });
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test("the failure frame rejects", async () => {
    const cause = [{ _tag: "Die", defect: { name: "UnknownError", message: "broken", ref: "err_1" } }];
    const text = `data: {"a":1}\n\nevent: ${FAILURE}\ndata: ${JSON.stringify(cause)}\n\n`;
    const error = await rejection(subscribe([text]));
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport", cause });
  });

  test("a body that breaks rejects", async () => {
    const failure = new Error("terminated");
    const body = new ReadableStream({ pull: (controller) => controller.error(failure) });
    const error = await rejection(collect(createTestClient(() => eventResponse(body)).client.events.subscribe()));
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport" });
    expect(error.cause).toBe(failure);
  });

  test("an event stream without a body, or of another type, rejects", async () => {
    const none = createTestClient(() => eventResponse(null)).client.events.subscribe();
    await expect(collect(none)).rejects.toMatchObject({ reason: "MalformedResponse" });
    const html = createTestClient(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
    await expect(collect(html.client.events.subscribe())).rejects.toMatchObject({
      reason: "UnsupportedContentType",
      cause: { contentType: "text/html" },
    });
  });
});

describe("the size limit of an event", () => {
  const filler = "x".repeat(1024 * 1024);
  const event = (megabytes: number) => ['data: {"a":"', ...Array<string>(megabytes).fill(filler), '"}\n\n'];
  const tooLarge = expect.objectContaining({ name: "ClientError", reason: "MalformedResponse" });

  test("accepts 255 MiB, in one piece and in many", async () => {
    await expect(subscribe(event(255))).resolves.toHaveLength(1);
    expect(parse(event(255).join(""))).toHaveLength(1);
  });

  test("refuses 260 MiB before all bytes have arrived", async () => {
    const parser = new EventParser();
    const push = () => {
      for (let megabytes = 0; megabytes < 260; megabytes += 1)
        parser.push(megabytes === 0 ? `data: ${filler}` : filler);
    };
    expect(push).toThrow(tooLarge);
    await expect(subscribe(event(260))).rejects.toEqual(tooLarge);
  });

  test("refuses 260 MiB in one piece or in many lines", () => {
    expect(() => parse(event(260).join(""))).toThrow(tooLarge);
    expect(() => parse(...Array<string>(260).fill(`data: ${filler}\n`))).toThrow(tooLarge);
  });

  test("applies to one event, not to all received bytes", () => {
    expect(EVENT_LIMIT).toBe(256 * 1024 * 1024);
    expect(parse(Array<string>(300).fill(`data: {"a":"${filler}"}\n\n`).join(""))).toHaveLength(300);
  });
});
