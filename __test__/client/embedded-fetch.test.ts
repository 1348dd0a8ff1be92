import { connect } from "../../dist/client/core.js";
import { createFetchTransport } from "../../dist/client/transport.js";
import { finished, finishedBytes, openBody, openTestHost } from "./embedded-support";
import { createSampleOperations } from "./sample";
import { collect, deferred, listenerCount, rejection, settle } from "./support";

test.each([
  ["a string", "http://host/api/x%20y?a=1&b#fragment", undefined],
  ["a URL", new URL("https://other:1/api/x%20y?a=1&b"), undefined],
  ["a Request", new Request("http://opencode.local/api/x%20y?a=1&b"), undefined],
  ["a Request and init", new Request("http://opencode.local/api/x%20y?a=1&b", { method: "PUT" }), { method: "GET" }],
])("accepts %s of any origin", async (_, input, init) => {
  const { host, requests } = await openTestHost(() => finished("{}"));
  const response = await host.fetch(input, init);
  expect(requests).toEqual([{ method: "GET", url: "/api/x%20y?a=1&b", headers: [], body: null }]);
  expect(response).toBeInstanceOf(Response);
});

test("sends method, headers and body", async () => {
  const { host, requests } = await openTestHost(() => finished("{}"));
  const body = '{"text":"\u00e9\ud83d\ude00"}';
  const headers = { "Content-Type": "application/json", "X-A": "1" };
  await host.fetch("http://host/api/session", { method: "post", headers, body });
  await host.fetch(new Request("http://host/api/session", { method: "POST", headers, body }));
  const stream = new Blob([body]).stream();
  await host.fetch(
    new Request("http://host/api/session", { method: "POST", headers, body: stream, duplex: "half" } as never),
  );
  const expected = {
    method: "POST",
    url: "/api/session",
    headers: [
      ["content-type", "application/json"],
      ["x-a", "1"],
    ],
    body,
  };
  expect(requests).toEqual([expected, expected, expected]);
});

test("sends no body with a POST that has none", async () => {
  const { host, requests } = await openTestHost(() => finished("", 204, []));
  await host.fetch(new Request("http://host/api/session/s/wait", { method: "POST" }));
  expect(requests[0]?.body).toBeNull();
});

test("returns a genuine Response", async () => {
  const { host } = await openTestHost(() =>
    finished('{"a":"\u00e9"}\nrest', 404, [
      ["content-type", "text/plain"],
      ["vary", "Origin"],
    ]),
  );
  const response: Response = await host.fetch("http://host/");
  expect(response).toBeInstanceOf(Response);
  expect([response.status, response.ok, response.statusText]).toEqual([404, false, ""]);
  expect(Object.fromEntries(response.headers)).toEqual({ "content-type": "text/plain", vary: "Origin" });
  await expect(response.clone().text()).resolves.toBe('{"a":"\u00e9"}\nrest');
  await expect(response.blob()).resolves.toMatchObject({ size: 15 });
});

test("returns a binary body unchanged", async () => {
  const { host } = await openTestHost(() => finishedBytes([0, 255, 254]));
  const response: Response = await host.fetch("http://host/api/fs/read/a.png");
  expect(response.headers.get("content-type")).toBe("image/png");
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 254]);
});

test("returns 204 without body and content type", async () => {
  const { host } = await openTestHost(() => finished("", 204, []));
  const response: Response = await host.fetch("http://host/", { method: "POST" });
  expect(response.body).toBeNull();
  expect(response.headers.get("content-type")).toBeNull();
});

test("returns an empty body without content type", async () => {
  const { host } = await openTestHost(() => finished("", 404, [["content-length", "0"]]));
  const response: Response = await host.fetch("http://host/");
  expect(response.headers.get("content-type")).toBeNull();
  await expect(response.text()).resolves.toBe("");
});

test("rejects the inputs that fetch rejects", async () => {
  const { host, requests } = await openTestHost(() => finished("{}"));
  await expect(host.fetch("/relative")).rejects.toMatchObject({ name: "TypeError" });
  await expect(host.fetch("data:text/plain,x")).rejects.toMatchObject({ name: "TypeError" });
  await expect(host.fetch("http://host/", { body: "x" })).rejects.toMatchObject({ name: "TypeError" });
  const used = new Request("http://host/", { method: "POST", body: "x" });
  await used.text();
  await expect(host.fetch(used)).rejects.toMatchObject({ name: "TypeError" });
  expect(requests).toEqual([]);
});

test("rejects with a ClientError if the addon fails", async () => {
  const { host } = await openTestHost(() => Promise.reject(new Error("panic")));
  const error = await rejection(host.fetch("http://host/"));
  expect(error).toMatchObject({ name: "ClientError", reason: "Transport", cause: { message: "panic" } });
});

describe("streams", () => {
  test("return bytes and pull them only when they are read", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const response: Response = await host.fetch("http://host/api/event");
    await settle();
    expect(source.state.pulls).toBe(0);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    source.send("");
    source.send("\u00e9");
    source.send("more");
    await expect(reader.read()).resolves.toEqual({ done: false, value: new Uint8Array([0xc3, 0xa9]) });
    expect(source.state.pulls).toBe(2);
    source.end();
    await expect(reader.read()).resolves.toMatchObject({ done: false });
    await expect(reader.read()).resolves.toEqual({ done: true, value: undefined });
  });

  test("can be piped through a decoder", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const response: Response = await host.fetch(new Request("http://host/api/event"));
    source.send("data: 1\n\n");
    source.end();
    const text = (response.body as ReadableStream).pipeThrough(new TextDecoderStream());
    await expect(collect(text as never)).resolves.toEqual(["data: 1\n\n"]);
  });

  test("fill the buffer of the reader up to the end", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const response: Response = await host.fetch("http://host/api/event");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader({ mode: "byob" });
    source.send("ab");
    const first = await reader.read(new Uint8Array(8));
    expect(Buffer.from(first.value as Uint8Array).toString()).toBe("ab");
    source.end();
    await expect(reader.read(new Uint8Array(8))).resolves.toMatchObject({ done: true });
  });

  test("pass cancel on to the addon, also while a read waits", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const response: Response = await host.fetch("http://host/api/event");
    const reader = (response.body as ReadableStream).getReader();
    const read = reader.read();
    await settle();
    await reader.cancel();
    expect(source.state.cancelled).toBe(true);
    await expect(read).resolves.toEqual({ done: true, value: undefined });
  });

  test("error when the body fails", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const response: Response = await host.fetch("http://host/api/event");
    source.fail(new Error("lost events"));
    await expect(response.text()).rejects.toMatchObject({ name: "ClientError", cause: { message: "lost events" } });
  });
});

describe("abort", () => {
  test("sends nothing if the signal is aborted before the request", async () => {
    const { host, requests } = await openTestHost(() => finished("{}"));
    const error = await rejection(host.fetch("http://host/", { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: "AbortError" });
    expect(error).toBeInstanceOf(DOMException);
    expect(requests).toEqual([]);
  });

  test("rejects with the reason during the request, and closes a stream that arrives late", async () => {
    const source = openBody();
    const answer = deferred();
    const { host } = await openTestHost(() => answer.promise);
    const controller = new AbortController();
    const call = rejection(host.fetch("http://host/", { signal: controller.signal }));
    await settle();
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await call).toBe(reason);
    answer.resolve(source.body);
    await settle();
    expect(source.state.cancelled).toBe(true);
  });

  test("errors the body with the reason after the response, also while a read waits", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const controller = new AbortController();
    const response: Response = await host.fetch("http://host/", { signal: controller.signal });
    const read = rejection((response.body as ReadableStream).getReader().read());
    await settle();
    controller.abort();
    expect(await read).toMatchObject({ name: "AbortError" });
    expect(source.state.cancelled).toBe(true);
  });

  test("removes the listener of a request when its body has ended", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const request = new Request("http://host/");
    const response: Response = await host.fetch(request);
    expect(listenerCount(request.signal)).toBe(1);
    source.end();
    await response.text();
    expect(listenerCount(request.signal)).toBe(0);
  });
});

test("a network client works over the embedded fetch unchanged", async () => {
  const source = openBody();
  const { host } = await openTestHost(({ url }) => (url === "/api/event" ? source.body : finished('{"healthy":true}')));
  const transport = createFetchTransport({ baseUrl: "http://opencode.local", fetch: host.fetch });
  const client = createSampleOperations(connect(transport));
  await expect(client.health.get()).resolves.toEqual({ healthy: true });
  source.send('data: {"seq":1}\n\n');
  for await (const event of client.events.subscribe()) {
    expect(event).toEqual({ seq: 1 });
    break;
  }
  expect(source.state.cancelled).toBe(true);
});
