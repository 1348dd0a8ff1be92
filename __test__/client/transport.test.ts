import { createFetchTransport } from "../../client/transport.js";

const request = { method: "GET", path: "/api/health", headers: [], body: undefined, signal: undefined };

test.each([[undefined], [null], [""], ["host"], ["/prefix"], [5]])("a base URL must be absolute: %p", (baseUrl) => {
  expect(() => createFetchTransport({ baseUrl } as never)).toThrow(TypeError);
});

test.each(["http://user@host", "http://user:password@host"])("a base URL names no user: %s", (baseUrl) => {
  expect(() => createFetchTransport({ baseUrl })).toThrow(TypeError);
});

describe("the global fetch", () => {
  const original = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = original;
  });

  test("is looked up once, and called without a receiver", async () => {
    const receivers: unknown[] = [];
    globalThis.fetch = async function fetch(this: unknown) {
      receivers.push(this);
      return new Response("first");
    };
    const transport = createFetchTransport({ baseUrl: "http://host" });
    globalThis.fetch = original;
    const response = await transport(request);
    await expect(response.text()).resolves.toBe("first");
    expect(receivers).toEqual([undefined]);
  });

  test("is needed only by a client that was not given one", () => {
    Reflect.set(globalThis, "fetch", undefined);
    expect(() => createFetchTransport({ baseUrl: "http://host" })).toThrow(TypeError);
    expect(() => createFetchTransport({ baseUrl: "http://host", fetch: original })).not.toThrow();
  });
});
