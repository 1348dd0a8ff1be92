import { rejection } from "../client/support";
import { basic, leavePrompts, setUpListener } from "./listen-support";

const key = basic("opencode", "s3cret");
const json = { "content-type": "application/json" };
const page = { origin: "http://localhost:5173" };

test("checks credentials first, then the session, then the rest", async () => {
  const { url, sessionID } = await setUpListener({ password: "s3cret" });
  const at = (id: string) => `/api/session/${id}/prompt`;
  for (const [path, headers, expected] of [
    [at("ses_nope"), {}, "401 UnauthorizedError"],
    [at(sessionID), { authorization: "Bearer s3cret" }, "401 UnauthorizedError"],
    ["/api/nothing", {}, "401 UnauthorizedError"],
    ["/nothing", {}, "401 "],
    [at("ses_nope"), key, "404 SessionNotFoundError"],
    ["/api/nothing", key, "404 "],
    [at("foo"), key, "400 InvalidRequestError"],
    [at(sessionID), key, "400 InvalidRequestError"],
  ] as const) {
    const response = await fetch(url + path, { method: "POST", headers: { ...json, ...headers }, body: "{" });
    const text = await response.text();
    const tag = text === "" ? "" : JSON.parse(text)._tag;
    expect([path, `${response.status} ${tag}`]).toEqual([path, expected]);
  }
});

test("a preflight needs no credentials", async () => {
  const { url } = await setUpListener({ password: "s3cret" });
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type" };
  const response = await fetch(`${url}/api/session`, { method: "OPTIONS", headers: { ...page, ...asked } });
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "access-control-allow-origin": page.origin,
    "access-control-allow-methods": "GET, HEAD, PUT, PATCH, POST, DELETE",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "86400",
  });
});

test("pages of this machine and listed pages may read, and requests in memory have no CORS headers", async () => {
  const { url, host } = await setUpListener({ password: false, cors: ["https://app.example"] });
  for (const [origin, reader, status] of [
    [page.origin, page.origin, 200],
    ["https://app.example", "https://app.example", 200],
    ["https://evil.example", null, 400],
  ] as const) {
    const response = await fetch(`${url}/api/health`, { headers: { origin } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([status, reader]);
    expect(response.headers.get("vary")).toBe("Origin");
    const inMemory = await host.fetch("http://host/api/health", { headers: { origin } });
    expect(Object.fromEntries(inMemory.headers)).toEqual({
      "content-type": "application/json",
      "content-length": "16",
      vary: "Origin",
    });
  }
});

test("refuses a write from an unlisted page if no password is set", async () => {
  const { url, host } = await setUpListener({ password: false });
  const before = await host.sessions.list();
  // A page may send this request without a preflight. The server takes a missing content type for JSON.
  const init = { method: "POST", headers: { origin: "https://evil.example" }, body: new Blob(["{}"]) };
  const response = await fetch(`${url}/api/session`, init);
  const refused = { _tag: "InvalidRequestError", message: expect.stringContaining("web pages"), field: "origin" };
  expect([response.status, await response.json()]).toEqual([400, refused]);
  await expect(host.sessions.list()).resolves.toEqual(before);
  const inMemory = await host.fetch("http://host/api/session", init);
  expect(inMemory.status).toBe(200);
});

test("compresses large answers only over the network", async () => {
  const { url, host, sessionID, headers } = await setUpListener();
  await leavePrompts(host, sessionID, 1, 10_000);
  const path = `/api/session/${sessionID}/history`;
  for (const encoding of ["gzip", "deflate"]) {
    const encoded = { headers: { "accept-encoding": encoding, ...headers } };
    const [there, here] = await Promise.all([fetch(url + path, encoded), host.fetch(`http://host${path}`, encoded)]);
    expect(there.headers.get("content-encoding")).toBe(encoding);
    expect(here.headers.get("content-encoding")).toBeNull();
    const [one, other] = await Promise.all([there.text(), here.text()]);
    expect(one).toBe(other);
  }
});

test.each(["/doc", "/openapi.json"])("serves the contract at %s, in memory and over the network", async (path) => {
  const { url, host, headers } = await setUpListener();
  const [there, here] = await Promise.all([fetch(url + path, { headers }), host.fetch(`http://host${path}`)]);
  const text = await there.text();
  expect(JSON.parse(text)).toMatchObject({ openapi: "3.1.0" });
  await expect(here.text()).resolves.toBe(text);
});

describe("bodies", () => {
  test("that are large are accepted in memory and over the network", async () => {
    const { host, client, sessionID } = await setUpListener();
    const prompt = { text: "x".repeat(8_000_000) };
    const receipt = await client.sessions.prompt({ sessionID, prompt, resume: false });
    expect(receipt.prompt.text.length).toBe(prompt.text.length);
    const larger = { sessionID, prompt: { text: "x".repeat(32 * 1024 * 1024) } };
    const [there, here] = [rejection(client.sessions.prompt(larger)), rejection(host.sessions.prompt(larger))];
    await expect(here).resolves.toMatchObject({ _tag: "InvalidRequestError", field: "prompt" });
    expect(await there).toEqual(await here);
  });

  test("that exceed the limit are refused only over the network", async () => {
    const { url, host, client, sessionID, headers } = await setUpListener({ maxBodyBytes: 10_000 });
    const prompt = { text: "x".repeat(10_000) };
    const input = { sessionID, prompt, resume: false } as const;
    const response = await fetch(`${url}/api/session/${sessionID}/prompt`, {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify({ prompt, resume: false }),
    });
    const refused = {
      _tag: "InvalidRequestError",
      message: expect.stringContaining("10000 bytes"),
      kind: "Payload",
    };
    expect([response.status, await response.json()]).toEqual([413, refused]);
    await expect(rejection(client.sessions.prompt(input))).resolves.toEqual(expect.objectContaining(refused));
    await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([]);
    await host.sessions.prompt(input);
  });
});
