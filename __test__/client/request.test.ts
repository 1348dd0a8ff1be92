import { connect } from "../../dist/client/core.js";
import { createFetchTransport } from "../../dist/client/transport.js";
import { createSampleOperations } from "./sample";
import { createTestClient, json, rejection } from "./support";

const ok = () => json({ data: {} });

describe("URL", () => {
  test.each([
    ["http://host", "http://host/api/session/ses_1"],
    ["http://host/", "http://host/api/session/ses_1"],
    ["http://host:1/prefix/of/it", "http://host:1/prefix/of/it/api/session/ses_1"],
    ["http://host/prefix//?query=1#fragment", "http://host/prefix/api/session/ses_1"],
  ])("base %s", async (baseUrl, expected) => {
    const { client, requests } = createTestClient(ok, { baseUrl });
    await client.sessions.get({ sessionID: "ses_1" });
    expect(requests.map(({ url }) => url)).toEqual([expected]);
  });

  test.each([
    ["ses_a/b", "ses_a%2Fb"],
    ["ses_a b?c#d", "ses_a%20b%3Fc%23d"],
    ["ses_\u00e9\ud83d\ude00", "ses_%C3%A9%F0%9F%98%80"],
    ["ses_half\ud83d", "ses_half%EF%BF%BD"],
    ["...", "..."],
  ])("parameter %j", async (sessionID, expected) => {
    const { client, requests } = createTestClient(ok);
    await client.sessions.get({ sessionID });
    expect(requests[0]?.url).toBe(`http://host/api/session/${expected}`);
  });

  test.each([
    [undefined, "Missing sessionID"],
    [{}, "Missing sessionID"],
    [{ sessionID: null }, "Missing sessionID"],
    ["ses_1", 'sessions.get takes an object, got a string: write sessions.get({ sessionID: "ses_1" })'],
    ["x".repeat(100), "sessions.get takes an object, got a string: write sessions.get({ sessionID: ... })"],
    [["ses_1"], "sessions.get takes an object, got an array: write sessions.get({ sessionID: ... })"],
    [{ sessionID: "" }, 'Invalid sessionID: ""'],
    [{ sessionID: "." }, 'Invalid sessionID: "."'],
    [{ sessionID: ".." }, 'Invalid sessionID: ".."'],
  ])("does not send an input that would change the path: %j", async (input, message) => {
    const { client, requests } = createTestClient(ok);
    const error = await rejection(client.sessions.get(input));
    expect({ ...error }).toEqual({ _tag: "InvalidRequestError", message, field: "sessionID" });
    expect(requests).toEqual([]);
  });

  test.each([
    [{}, ""],
    [undefined, ""],
    [{ limit: undefined, order: null }, ""],
    [{ limit: 0, search: "" }, "?limit=0&search="],
    [{ search: "a b&c=d+e" }, "?search=a%20b%26c%3Dd%2Be"],
    [{ search: ["x", null, "y"] }, "?search=x&search=y"],
    [{ search: "half\udc00" }, "?search=half%EF%BF%BD"],
    [{ unknown: undefined }, ""],
  ])("query of %j", async (input, expected) => {
    const { client, requests } = createTestClient(() => json({ data: [], cursor: {} }));
    await client.sessions.list(input);
    expect(requests[0]?.url).toBe(`http://host/api/session${expected}`);
  });

  test.each([
    ["a", "a"],
    ["src/main.ts", "src/main.ts"],
    ["a b/c?d#e%2F/\u00e9", "a%20b/c%3Fd%23e%252F/%C3%A9"],
    ["...", "..."],
    ["a/.b", "a/.b"],
  ])("keeps the slashes in the rest of a path: %j", async (path, expected) => {
    const { client, requests } = createTestClient(() => new Response("x"));
    await client.files.read({ path, location: { directory: "/w" } });
    expect(requests[0]?.url).toBe(`http://host/api/fs/read/${expected}?location%5Bdirectory%5D=%2Fw`);
  });

  test.each([
    [undefined, "Missing path"],
    ["", 'Invalid path: ""'],
    ["/etc/passwd", 'Invalid path: "/etc/passwd"'],
    ["a/", 'Invalid path: "a/"'],
    ["a//b", 'Invalid path: "a//b"'],
    ["..", 'Invalid path: ".."'],
    ["a/../../session", 'Invalid path: "a/../../session"'],
    ["./a", 'Invalid path: "./a"'],
  ])("does not send a rest that would change the path: %j", async (path, message) => {
    const { client, requests } = createTestClient(() => new Response("x"));
    const error = await rejection(client.files.read({ path }));
    expect({ ...error }).toEqual({ _tag: "InvalidRequestError", message, field: "path" });
    expect(requests).toEqual([]);
  });

  test("writes objects as name[member]", async () => {
    const { client, requests } = createTestClient(() => json({}));
    await client.location.get({ location: { directory: "/a b", workspace: undefined, tags: ["x", "y"] } });
    expect(requests[0]?.url).toBe(
      "http://host/api/location?location%5Bdirectory%5D=%2Fa%20b&location%5Btags%5D=x&location%5Btags%5D=y",
    );
  });
});

describe("arguments", () => {
  test("an operation without input takes the options first", async () => {
    const { client, requests } = createTestClient(() => json({ healthy: true }));
    await expect(client.health.get({ headers: { a: "1" } })).resolves.toEqual({ healthy: true });
    await client.health.get();
    expect(requests.map(({ headers }) => headers)).toEqual([{ a: "1" }, {}]);
  });

  test("an optional input is sent as an empty object", async () => {
    const { client, requests } = createTestClient(ok);
    await client.sessions.create();
    expect(requests[0]?.body).toBe("{}");
  });

  test("methods may be nested and work without a receiver", async () => {
    const { client, requests } = createTestClient(() => new Response(null, { status: 204 }));
    const { clear } = client.sessions.revert;
    await expect(clear({ sessionID: "ses_1" })).resolves.toBeUndefined();
    expect(requests[0]).toEqual({
      url: "http://host/api/session/ses_1/revert/clear",
      method: "POST",
      headers: {},
      body: null,
    });
  });

  test("requests are sent synchronously, in the order of the calls", () => {
    const { client, requests } = createTestClient(ok);
    for (const sessionID of ["a", "b", "c"]) void client.sessions.prompt({ sessionID, prompt: { text: "" } });
    expect(requests.map(({ url }) => url.split("/")[5])).toEqual(["a", "b", "c"]);
  });
});

describe("body", () => {
  test("distinguishes 0, false, the empty string, null and absence", async () => {
    const { client, requests } = createTestClient(ok);
    await client.sessions.prompt({
      sessionID: "s",
      id: null,
      prompt: { text: "" },
      metadata: { n: 0 },
      resume: false,
      delivery: undefined,
    });
    expect(requests[0]?.body).toBe('{"id":null,"prompt":{"text":""},"resume":false,"metadata":{"n":0}}');
  });

  test.each([
    ["\ud83d", "\ufffd"],
    ["a\udc00b\ud800", "a\ufffdb\ufffd"],
    ["\ud83d\ude00", "\ud83d\ude00"],
    ["the text \\ud800 itself", "the text \\ud800 itself"],
    ["\\\ud800\\", "\\\ufffd\\"],
    ['\u001f\n"\\ud83d \ud83d', '\u001f\n"\\ud83d \ufffd'],
  ])("text %j is sent well-formed", async (text, expected) => {
    const { client, requests } = createTestClient(ok);
    await client.sessions.prompt({ sessionID: "s", prompt: { text }, metadata: { [text]: [text] } });
    expect(JSON.parse(requests[0]?.body as string)).toEqual({
      prompt: { text: expected },
      metadata: { [expected]: [expected] },
    });
    expect(requests[0]?.body).not.toMatch(/(?<!\\)(?:\\\\)*\\ud/);
  });

  test("a value that JSON cannot represent is not sent", async () => {
    const { client, requests } = createTestClient(ok);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const error = await rejection(client.sessions.prompt({ sessionID: "s", prompt: "x", metadata: cycle }));
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport" });
    expect(requests).toEqual([]);
  });
});

describe("headers", () => {
  test("headers of the call override headers of the client", async () => {
    const { client, requests } = createTestClient(ok, { headers: { "X-A": "client", "X-B": "client" } });
    await client.sessions.get({ sessionID: "s" }, { headers: new Headers({ "x-b": "call" }) });
    await client.sessions.get({ sessionID: "s" }, { headers: [["x-c", "call"]] });
    expect(requests.map(({ headers }) => headers)).toEqual([
      { "x-a": "client", "x-b": "call" },
      { "x-a": "client", "x-b": "client", "x-c": "call" },
    ]);
  });

  test("a content type is added only to a body, and only if the caller gives none", async () => {
    const { client, requests } = createTestClient(ok);
    await client.sessions.create({});
    await client.sessions.create({}, { headers: { "Content-Type": "application/json; v=1" } });
    await client.sessions.get({ sessionID: "s" });
    expect(requests.map(({ headers }) => headers["content-type"])).toEqual([
      "application/json",
      "application/json; v=1",
      undefined,
    ]);
  });

  test("headers of an operation override those of the client and yield to those of the call", async () => {
    const { client, requests } = createTestClient(() => json({}), { headers: { "X-OpenCode-Ticket": "0", a: "1" } });
    await client.ptys.connectToken({ ptyID: "pty_1" });
    await client.ptys.connectToken({ ptyID: "pty_1" }, { headers: { "X-OpenCode-Ticket": "2" } });
    await client.health.get();
    expect(requests.map(({ headers }) => headers)).toEqual([
      { "x-opencode-ticket": "1", a: "1" },
      { "x-opencode-ticket": "2", a: "1" },
      { "x-opencode-ticket": "0", a: "1" },
    ]);
  });

  test("a custom fetch may change the headers", async () => {
    const sent: unknown[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      sent.push([...(init.headers as string[][])]);
      (init.headers as string[][]).push(["x", "1"]);
      return json({});
    };
    const transport = createFetchTransport({ baseUrl: "http://host", fetch });
    const client = createSampleOperations(connect(transport, { a: "1" }));
    await client.health.get();
    await client.health.get();
    expect(sent).toEqual([[["a", "1"]], [["a", "1"]]]);
  });

  test("invalid headers reject", async () => {
    const { client, requests } = createTestClient(ok);
    const error = await rejection(client.health.get({ headers: { "a b": "1" } }));
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport", cause: { name: "TypeError" } });
    expect(requests).toEqual([]);
  });
});
