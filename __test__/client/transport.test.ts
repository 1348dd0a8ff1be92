import { inspect } from "node:util";
import { createClient } from "../../dist/client/index.js";
import { createFetchTransport } from "../../dist/client/transport.js";

const request = { method: "GET", path: "/api/health", headers: [], body: undefined, signal: undefined };

const wrong = [undefined, null, "", "host", "/prefix", "localhost:4096", 5, {}];

test.each(wrong.map((baseUrl) => [baseUrl]))("refuses a base URL that is not absolute: %p", (baseUrl) => {
  expect(() => createFetchTransport({ baseUrl } as never)).toThrow(TypeError);
});

describe("a user and a password in the base URL", () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

  /** Sends one request. Returns its address and its header `authorization`. */
  async function send(baseUrl: string, headers: [string, string][] = []) {
    const sent: [string, string | null][] = [];
    const fetch = async (url: string, init: RequestInit) => {
      sent.push([url, new Headers(init.headers).get("authorization")]);
      return new Response("{}", { headers: { "content-type": "application/json" } });
    };
    await createClient({ baseUrl, headers, fetch }).health.get();
    return sent;
  }

  test.each([
    ["http://host", null],
    ["http://me@host", basic("me:")],
    ["http://me:s3cret@host", basic("me:s3cret")],
    ["http://:s3cret@host", basic(":s3cret")],
    ["http://m%3Ae:p%2541%40%C3%9F%F0%9F%98%80@host", basic("m:e:p%41@\u00df\ud83d\ude00")],
    ["http://me:p@ss@host", basic("me:p@ss")],
  ])("become the header authorization: %s", async (baseUrl, expected) => {
    await expect(send(baseUrl)).resolves.toEqual([["http://host/api/health", expected]]);
  });

  test("yield to a header of the caller", async () => {
    await expect(send("http://me:s3cret@host", [["Authorization", "Bearer x"]])).resolves.toEqual([
      ["http://host/api/health", "Bearer x"],
    ]);
  });

  test.each(["http://me:s3cret%zz@host", "http://me:s3cret@host:port", "me:s3cret@host", "http://me:s3cret@"])(
    "are not shown in the failure for a bad URL: %s",
    (baseUrl) => {
      const error = thrown(() => createClient({ baseUrl }));
      expect(error).toBeInstanceOf(TypeError);
      expect(inspect(error)).not.toContain("s3cret");
    },
  );
});

function thrown(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("It did not throw");
}

describe("the global fetch", () => {
  const original = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = original;
  });

  test("is read once, and called without a receiver", async () => {
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

  test("is required only by a client without a fetch option", () => {
    Reflect.set(globalThis, "fetch", undefined);
    expect(() => createFetchTransport({ baseUrl: "http://host" })).toThrow(TypeError);
    expect(() => createFetchTransport({ baseUrl: "http://host", fetch: original })).not.toThrow();
  });
});
