import { isClientError } from "../../dist/client/errors.js";
import { createTestClient, json, rejection } from "./support";

const notFound = { _tag: "SessionNotFoundError", sessionID: "ses_1", message: "Session not found: ses_1" };

function answering(response: () => Response | Promise<Response>) {
  return createTestClient(response).client;
}

const get = (response: () => Response | Promise<Response>) => answering(response).sessions.get({ sessionID: "ses_1" });
const text = (body: string | null, status: number, type: string) => () =>
  new Response(body, { status, headers: { "content-type": type } });

describe("values", () => {
  test("unwrap an object whose only member is data", async () => {
    await expect(get(() => json({ data: { id: "ses_1" } }))).resolves.toEqual({ id: "ses_1" });
    await expect(get(() => json({ data: null }))).resolves.toBeNull();
  });

  test("keep other envelopes", async () => {
    const body = { location: { directory: "/" }, data: [1] };
    await expect(answering(() => json(body)).location.get()).resolves.toEqual(body);
  });

  test("are undefined for 204", async () => {
    const client = answering(() => new Response(null, { status: 204 }));
    await expect(client.sessions.interrupt({ sessionID: "ses_1" })).resolves.toBeUndefined();
  });

  test("accept a content type with parameters, in upper or lower case", async () => {
    await expect(get(text('{"data":1}', 200, "Application/JSON; charset=utf-8"))).resolves.toBe(1);
  });
});

describe("bytes", () => {
  const read = (response: () => Response | Promise<Response>) => answering(response).files.read({ path: "a.png" });

  test.each([
    ["of any type", "image/png", [0, 255, 137, 80]],
    ["of no type", null, [1]],
    ["with the content type of JSON", "application/json", [...Buffer.from('{"data":1}')]],
    ["of an empty body", "text/plain", []],
  ])("%s are returned unchanged", async (_, type, bytes) => {
    const value = await read(() => {
      const response = new Response(new Uint8Array(bytes));
      if (type !== null) response.headers.set("content-type", type);
      return response;
    });
    expect(value).toBeInstanceOf(Uint8Array);
    expect([...value]).toEqual(bytes);
  });

  test("reject if the body breaks, or if the status is not 200", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
    await expect(read(() => new Response(body))).rejects.toMatchObject({ reason: "Transport" });
    await expect(read(() => new Response("x", { status: 206 }))).rejects.toMatchObject({ reason: "UnexpectedStatus" });
    await expect(read(() => json(notFound, 404))).rejects.toMatchObject(notFound);
  });
});

describe("pages", () => {
  const list = (body: unknown) => answering(() => json(body)).sessions.list();

  test.each([
    [
      { data: [1], cursor: { previous: "p", next: "n" } },
      { items: [1], previous: "p", next: "n" },
    ],
    [{ data: [], cursor: { previous: null, next: null } }, { items: [] }],
    [
      { data: [1], cursor: { next: "n" } },
      { items: [1], next: "n" },
    ],
    [{ data: [] }, { items: [] }],
  ])("%j", async (body, page) => {
    await expect(list(body)).resolves.toStrictEqual(page);
  });

  test("reject a page without data", async () => {
    await expect(list({ items: [] })).rejects.toMatchObject({ name: "ClientError", reason: "MalformedResponse" });
  });
});

describe("cursors", () => {
  const empty = () => json({ data: [], cursor: { previous: null, next: null } });

  test.each([
    ["list", { cursor: "c", limit: 3 }, "limit"],
    ["list", { cursor: "c", search: "" }, "search"],
    ["list", { cursor: "", order: "asc" }, "order"],
    ["messages", { sessionID: "ses_1", cursor: "c", order: "asc" }, "order"],
  ])("%s rejects a cursor together with another field (%j)", async (method, input, field) => {
    const { client, requests } = createTestClient(empty);
    const error = await rejection(client.sessions[method](input));
    expect({ ...error }).toEqual({ _tag: "InvalidCursorError", message: `Cursor cannot be combined with ${field}` });
    expect(requests).toEqual([]);
  });

  test.each([
    ["list", { cursor: "c", limit: undefined, order: null }, "/api/session?cursor=c"],
    ["list", { cursor: null, limit: 3 }, "/api/session?limit=3"],
    ["messages", { sessionID: "ses_1", cursor: "c" }, "/api/session/ses_1/message?cursor=c"],
  ])("%s ignores absent fields next to a cursor (%j)", async (method, input, path) => {
    const { client, requests } = createTestClient(empty);
    await client.sessions[method](input);
    expect(requests[0]?.url).toBe(`http://host${path}`);
  });
});

describe("declared failures", () => {
  test("are errors whose own enumerable properties are exactly the body", async () => {
    const error = await rejection(get(() => json(notFound, 404)));
    expect(Object.keys(error)).toEqual(["_tag", "sessionID", "message"]);
    expect(JSON.stringify(error)).toBe(JSON.stringify(notFound));
    expect({ ...error }).toEqual(notFound);
    expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
    expect(Object.getOwnPropertyDescriptor(error, "stack")?.enumerable).toBe(false);
    expect(error.stack).toMatch(/^Error: Session not found: ses_1\n\s+at /);
    expect(isClientError(error)).toBe(false);
  });

  test("match the Jest matchers for errors", async () => {
    const call = () => get(() => json(notFound, 404));
    await expect(call()).rejects.toThrow();
    await expect(call()).rejects.toThrow("Session not found: ses_1");
    await expect(call()).rejects.toThrow(Error);
    await expect(call()).rejects.toBeInstanceOf(Error);
    await expect(call()).rejects.toMatchObject({ _tag: "SessionNotFoundError", sessionID: "ses_1" });
  });

  test("accept every field name, also one that could change the prototype", async () => {
    const body = '{"_tag":"ConflictError","name":"n","__proto__":{"x":1},"resource":"r"}';
    const error = await rejection(get(text(body, 404, "application/json")));
    expect(Object.keys(error)).toEqual(["_tag", "name", "__proto__", "resource"]);
    expect(JSON.stringify(error)).toBe(body);
    expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
  });

  test("reject the first next() of a stream", async () => {
    const events = answering(() => json(notFound, 404)).sessions.events({ sessionID: "ses_1" });
    const iterator = events[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject(notFound);
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
  });
});

describe("servers that break the contract", () => {
  test.each([
    ["HTML", text("<html>", 200, "text/html"), "UnsupportedContentType", { contentType: "text/html" }],
    [
      "JSON by another name",
      text('{"data":1}', 200, "text/plain"),
      "UnsupportedContentType",
      { contentType: "text/plain" },
    ],
    ["no content type", () => new Response(new Uint8Array(2)), "UnsupportedContentType", { contentType: null }],
    [
      "a declared status with HTML",
      text("<html>", 404, "text/html"),
      "UnsupportedContentType",
      { contentType: "text/html" },
    ],
    ["an undeclared status", text("{}", 418, "application/json"), "UnexpectedStatus", { status: 418 }],
    [
      "a declared status of another server",
      text('{"message":"x"}', 503, "application/json"),
      "UnexpectedStatus",
      { status: 503 },
    ],
    ["another success", text('{"data":1}', 201, "application/json"), "UnexpectedStatus", { status: 201 }],
    ["204 for a value", () => new Response(null, { status: 204 }), "UnexpectedStatus", { status: 204 }],
    ["no body", text(null, 200, "application/json"), "MalformedResponse", { name: "SyntaxError" }],
    ["an empty body", text("", 200, "application/json"), "MalformedResponse", { name: "SyntaxError" }],
    ["half of a body", text('{"data":', 200, "application/json"), "MalformedResponse", { name: "SyntaxError" }],
    ["null", text("null", 200, "application/json"), "MalformedResponse", {}],
    ["a string", text('"data"', 200, "application/json"), "MalformedResponse", {}],
    ["no data", text("{}", 200, "application/json"), "MalformedResponse", {}],
    ["a declared status with null", text("null", 404, "application/json"), "MalformedResponse", {}],
  ])("%s", async (_, response, reason, cause) => {
    const error = await rejection(get(response));
    expect(error).toMatchObject({ name: "ClientError", reason, cause });
    expect(error).toBeInstanceOf(Error);
    expect(isClientError(error)).toBe(true);
    expect(Object.keys(error)).toEqual(["reason"]);
  });

  test("a page for an operation without a result rejects", async () => {
    const client = answering(text("<html>", 200, "text/html"));
    await expect(client.sessions.interrupt({ sessionID: "s" })).rejects.toMatchObject({ reason: "UnexpectedStatus" });
  });

  test("a body that the client does not read is cancelled", async () => {
    let cancelled = false;
    const body = new ReadableStream({ cancel: () => void (cancelled = true) });
    await rejection(get(() => new Response(body, { status: 418 })));
    expect(cancelled).toBe(true);
  });

  test("a fetch that rejects or throws rejects as Transport", async () => {
    const failure = new TypeError("fetch failed");
    const rejected = await rejection(get(() => Promise.reject(failure)));
    expect(rejected).toMatchObject({ name: "ClientError", reason: "Transport" });
    expect(rejected.cause).toBe(failure);
    expect(rejected.message).toContain("fetch failed");
  });

  test("a body that breaks rejects as Transport", async () => {
    const failure = new Error("reset");
    const body = new ReadableStream({ start: (controller) => controller.error(failure) });
    const error = await rejection(get(() => new Response(body, { headers: { "content-type": "application/json" } })));
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport" });
    expect(error.cause).toBe(failure);
  });
});
