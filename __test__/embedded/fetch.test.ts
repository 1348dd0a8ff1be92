import { createClient } from "../../dist/client/index.js";
import type { OpenCodeHost } from "../../index.js";
import { rejection } from "../client/support";
import { readTranscript, readUntil, run, setUp, setUpSession, subscribe } from "./support";

const url = "http://any.host:1";

function post(host: OpenCodeHost, path: string, body: BodyInit, headers: Record<string, string> = {}) {
  return host.fetch(url + path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
}

/** Status, content type and body of a response. */
async function read(response: Response) {
  return [response.status, response.headers.get("content-type"), await response.text()];
}

async function readProblem(response: Response) {
  expect(response.headers.get("content-type")).toBe("application/json");
  return { status: response.status, ...JSON.parse(await response.text()) };
}

test("accepts a Request, an address with init, and a URL", async () => {
  const { host, session } = await setUpSession();
  const body = JSON.stringify({ prompt: { text: "Hi" }, resume: false, id: "msg_same" });
  const target = `${url}/api/session/${session.id}/prompt`;
  const init = { method: "POST", body, headers: { "content-type": "application/json" } };
  const answers = [
    await host.fetch(new Request(target, init)),
    await host.fetch(new Request(target), init),
    await host.fetch(target, init),
    await host.fetch(new URL(target), init),
  ];
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  for (const [index, answer] of answers.entries()) {
    expect(answer).toMatchObject({ status: 200, ok: true });
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(texts[index]).toBe(texts[0]);
  }
});

test("accepts a streamed body, as the published SDK sends it", async () => {
  const { host, sessionID } = await setUpSession();
  const text = JSON.stringify({ prompt: { text: "größer 🙂" }, resume: false });
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const init = { method: "POST", body, duplex: "half", headers: { "content-type": "application/json" } } as RequestInit;
  const response = await host.fetch(new Request(`${url}/api/session/${sessionID}/prompt`, init));
  await expect(response.json()).resolves.toMatchObject({ data: { prompt: { text: "größer 🙂" } } });
});

test("an answer without content has neither body nor content type", async () => {
  const { host, sessionID } = await setUpSession();
  for (const operation of ["wait", "interrupt"]) {
    const response = await host.fetch(`${url}/api/session/${sessionID}/${operation}`, { method: "POST" });
    expect(response.status).toBe(204);
    expect(response.body).toBeNull();
    expect(response.headers.get("content-type")).toBeNull();
  }
});

test("answers an unknown path or method without a body", async () => {
  const { host } = await setUpSession();
  for (const [method, path] of [
    ["GET", "/"],
    ["GET", "/api/nothing"],
    ["DELETE", "/api/health"],
    ["HEAD", "/api/health"],
    ["GET", "/api/session/ses_%zz"],
  ] as const) {
    const response = await host.fetch(url + path, { method });
    expect([path, response.status, await response.text()]).toEqual([path, 404, ""]);
  }
});

test("normalises paths before it matches them", async () => {
  const { host } = await setUpSession();
  for (const path of ["api/health", "api/health/", "/api//health", "API/Health", "api/%68ealth", "api/health?x=1"]) {
    const answer = await read(await host.fetch(`${url}/${path}`));
    expect(answer).toEqual([200, "application/json", '{"healthy":true}']);
  }
});

test("failures have the status and the body that the contract declares", async () => {
  const { host, sessionID } = await setUpSession();
  await host.sessions.prompt({ sessionID, id: "msg_taken", prompt: { text: "Hi" }, resume: false });
  const prompt = `/api/session/${sessionID}/prompt`;
  const json = (body: unknown) => post(host, prompt, JSON.stringify(body));
  const invalid = { status: 400, _tag: "InvalidRequestError", message: expect.any(String) };

  await expect(host.fetch(`${url}/api/session/ses_none`).then(readProblem)).resolves.toStrictEqual({
    status: 404,
    _tag: "SessionNotFoundError",
    sessionID: "ses_none",
    message: "Session not found: ses_none",
  });
  await expect(host.fetch(`${url}/api/session/nonsense`).then(readProblem)).resolves.toStrictEqual({
    ...invalid,
    message: "Invalid session ID",
    field: "sessionID",
  });
  await expect(json({ id: "msg_taken", prompt: { text: "Ho" } }).then(readProblem)).resolves.toMatchObject({
    status: 409,
    _tag: "ConflictError",
    resource: "msg_taken",
  });
  await expect(json({ prompt: { text: 5 } }).then(readProblem)).resolves.toStrictEqual({
    ...invalid,
    message: expect.stringContaining('["prompt"]["text"]'),
    kind: "Payload",
  });
  const query = `${url}/api/session/${sessionID}/message?limit=0`;
  await expect(host.fetch(query).then(readProblem)).resolves.toStrictEqual({
    ...invalid,
    message: expect.stringContaining('["limit"]'),
    kind: "Query",
  });
  const cursor = `${url}/api/session/${sessionID}/message?cursor=nonsense`;
  await expect(host.fetch(cursor).then(readProblem)).resolves.toStrictEqual({
    status: 400,
    _tag: "InvalidCursorError",
    message: "Invalid cursor",
  });
});

test("reports an unknown session before other errors of a request", async () => {
  const { host } = await setUpSession();
  const response = await post(host, "/api/session/ses_none/prompt", "{");
  await expect(readProblem(response)).resolves.toMatchObject({ status: 404, _tag: "SessionNotFoundError" });
});

describe("a body that cannot be parsed stores nothing", () => {
  test.each([
    ["nothing", ""],
    ["half of it", '{"prompt":{"text":"Hi"}'],
    ["no object", "null"],
    ["a list", "[]"],
    ["text", '"prompt"'],
  ])("%s", async (_, body) => {
    const { host, sessionID } = await setUpSession();
    const response = await post(host, `/api/session/${sessionID}/prompt`, body);
    await expect(readProblem(response)).resolves.toStrictEqual({
      status: 400,
      _tag: "InvalidRequestError",
      message: expect.any(String),
      kind: "Payload",
    });
    await expect(host.sessions.history({ sessionID })).resolves.toEqual({ data: [], hasMore: false });
  });

  test("a wrong content type", async () => {
    const { host, sessionID } = await setUpSession();
    const headers = { "content-type": "text/plain" };
    const response = await post(host, `/api/session/${sessionID}/prompt`, '{"prompt":{"text":"Hi"}}', headers);
    expect(response.status).toBe(415);
    await expect(host.sessions.history({ sessionID })).resolves.toEqual({ data: [], hasMore: false });
  });
});

test("replaces invalid UTF-8 in a body", async () => {
  const { host, sessionID } = await setUpSession();
  const [start, end] = ['{"resume":false,"prompt":{"text":"a', 'b"}}'].map((text) => Buffer.from(text));
  const body = Buffer.concat([start!, Buffer.of(0xff, 0xc3), end!]);
  const response = await post(host, `/api/session/${sessionID}/prompt`, body);
  await expect(response.json()).resolves.toMatchObject({ data: { prompt: { text: "a\ufffd\ufffdb" } } });
});

describe("streams", () => {
  test("are byte streams of events", async () => {
    const { host, sessionID } = await setUpSession();
    await host.sessions.prompt({ sessionID, prompt: { text: "🙂" }, resume: false });
    const response = await host.fetch(`${url}/api/session/${sessionID}/event`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const reader = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
    const { value } = (await reader.read()) as { value: string };
    expect(value).toMatch(/^data: \{.*\}\n\n$/);
    expect(JSON.parse(value.slice("data: ".length))).toMatchObject({ data: { prompt: { text: "🙂" } } });
    await reader.cancel();
  });

  test("return the response before the first event", async () => {
    const { host, sessionID } = await setUpSession();
    const response = await host.fetch(`${url}/api/session/${sessionID}/event`);
    expect(response.status).toBe(200);
    await response.body!.cancel();
  });

  test("abort with the reason of the signal", async () => {
    const { host } = await setUpSession();
    const controller = new AbortController();
    const response = await host.fetch(`${url}/api/event`, { signal: controller.signal });
    const reader = response.body!.getReader();
    await reader.read();
    const text = rejection(drain(reader));
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(text).resolves.toBe(reason);
  });

  test("break when the host closes", async () => {
    const { host, sessionID } = await setUpSession();
    const response = await host.fetch(`${url}/api/session/${sessionID}/event`);
    const text = rejection(response.text());
    await host.close();
    await expect(text).resolves.toMatchObject({ name: "ClientError", reason: "Transport" });
  });

  async function drain(reader: ReadableStreamDefaultReader) {
    while (!(await reader.read()).done);
  }
});

test("a call that is aborted beforehand rejects with the reason and sends nothing", async () => {
  const { host, sessionID } = await setUpSession();
  const reason = new Error("enough");
  const init = { method: "POST", body: '{"prompt":{"text":"Hi"}}', headers: { "content-type": "application/json" } };
  const call = host.fetch(`${url}/api/session/${sessionID}/prompt`, { ...init, signal: AbortSignal.abort(reason) });
  await expect(rejection(call)).resolves.toBe(reason);
  await expect(host.sessions.history({ sessionID })).resolves.toEqual({ data: [], hasMore: false });
});

test("a waiting call rejects with the reason of its signal", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ deltas: ["a", "b"], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await model.reached("middle");
  const controller = new AbortController();
  const { signal } = controller;
  const call = rejection(host.fetch(`${url}/api/session/${sessionID}/wait`, { method: "POST", signal }));
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(call).resolves.toBe(reason);
  model.release("middle");
});

test("the network client works over it", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const client = createClient({ baseUrl: url, fetch: host.fetch });
  const session = await client.sessions.create();
  await expect(host.sessions.get({ sessionID: session.id })).resolves.toStrictEqual(session);
  const live = await subscribe({ ...host, events: client.events });
  setup.model.reply({ text: "Hello." });
  await run({ ...host, sessions: client.sessions }, session.id, "Hi");
  await readUntil(live, "session.next.step.ended");
  await live.return?.();
  await expect(readTranscript(host, session.id)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
  const missing = await rejection(client.sessions.get({ sessionID: "ses_none" }));
  expect(JSON.stringify(missing)).toBe(JSON.stringify(await rejection(host.sessions.get({ sessionID: "ses_none" }))));
});
