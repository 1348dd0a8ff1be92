import type { OpenCodeHost, SessionNextStepFailed } from "../../index.js";
import { readHistory, readTranscript, run, setUp, setUpSession, types } from "./support";

async function readFailure(host: OpenCodeHost, sessionID: string) {
  const failed = (await readHistory(host, sessionID)).filter(
    (event): event is SessionNextStepFailed => event.type === "session.next.step.failed",
  );
  expect(failed).toHaveLength(1);
  return failed[0]!.data.error;
}

describe("an error status of the provider fails the step, and the next prompt works", () => {
  test.each([
    [400, { error: { message: "Unknown parameter" } }, "invalid-request", "Unknown parameter"],
    [401, { error: { message: "Who are you?" } }, "auth", "Who are you?"],
    [403, "Forbidden", "auth", "Forbidden"],
    [404, { error: { message: "Unknown model" } }, "invalid-request", "Unknown model"],
    [429, { error: { message: "Pay first", code: "insufficient_quota" } }, "quota", "Pay first"],
    [402, { error: { message: "Insufficient Balance" } }, "quota", "Insufficient Balance"],
    [429, { error: { code: "1113", message: "Please recharge." } }, "quota", "Please recharge."],
    [429, { error: { type: "usage_limit_reached", message: "Used up", resets_in_seconds: 9000 } }, "quota", "Used up"],
    [400, { error: { message: "Your credit balance is too low" } }, "quota", "add credit"],
    [403, { error: { code: 403, message: "Input was flagged" } }, "content-policy", "Input was flagged"],
    [418, "<html>teapot</html>", "unknown", "418"],
  ])("%i %p", async (status, body, kind, message) => {
    const { host, model, sessionID } = await setUpSession();
    model.reply({ status, body }, { text: "Hello." });
    await run(host, sessionID, "Hi");
    expect(model.requests).toHaveLength(1);
    await expect(readFailure(host, sessionID)).resolves.toMatchObject({
      type: "unknown",
      message: expect.stringContaining(message),
      cause: { kind, status, retryable: false },
    });
    await run(host, sessionID, "Again");
    expect((await readTranscript(host, sessionID)).slice(-2)).toEqual(["user: Again", "assistant: Hello."]);
  });

  // This is the only slow test, because the client waits between two attempts.
  test("500, after three attempts", async () => {
    const { host, model, sessionID } = await setUpSession({ retry: { maxAttempts: 3 } });
    const refusal = { status: 500, body: { error: { message: "Internal error" } } };
    model.reply(refusal, refusal, refusal, { text: "Hello." });
    await run(host, sessionID, "Hi");
    expect(model.requests).toHaveLength(3);
    await expect(readFailure(host, sessionID)).resolves.toMatchObject({
      message: expect.stringContaining("Internal error"),
      cause: { status: 500, retryable: true },
    });
    await run(host, sessionID, "Again");
    expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Hello.");
  });
});

test("records a temporary refusal as a wait, and adds no message", async () => {
  const { host, model, sessionID } = await setUpSession();
  const refusal = { status: 429, headers: { "retry-after-ms": "1" }, body: {} };
  model.reply(refusal, refusal, refusal, refusal, { text: "Hello." });
  await run(host, sessionID, "Hi");
  expect(model.requests).toHaveLength(5);
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
  const retried = (await readHistory(host, sessionID)).filter((event) => event.type === "session.next.retried");
  expect(retried.map((event) => event.data.attempt)).toEqual([1, 2, 3, 4]);
  expect(retried[0]?.data.error).toMatchObject({
    statusCode: 429,
    isRetryable: true,
    responseHeaders: { "retry-after-ms": "1" },
    metadata: { next: expect.stringMatching(/^\d+$/), reason: "rate-limit" },
  });
});

test("fails the turn at once if the provider asks to wait for an hour", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ status: 429, headers: { "retry-after": "3600" }, body: {} });
  await run(host, sessionID, "Hi");
  await expect(readFailure(host, sessionID)).resolves.toMatchObject({
    message: expect.stringContaining("The provider asks to wait 3600 seconds"),
    cause: { kind: "rate-limit", retryAfterMs: 3_600_000 },
  });
});

test("an interruption ends the wait before a retry", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ status: 503, headers: { "retry-after": "240" }, body: {} });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  for await (const event of host.sessions.events({ sessionID })) if (event.type === "session.next.retried") break;
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  expect(model.requests).toHaveLength(1);
});

test("a timeout of the host ends a request without an answer", async () => {
  const { host, model, sessionID } = await setUpSession({ deadlines: { firstByteMs: 100, idleMs: 100 } });
  model.reply({ text: "Too late.", gate: "start" });
  await run(host, sessionID, "Hi");
  await expect(readFailure(host, sessionID)).resolves.toMatchObject({
    message: expect.stringContaining("did not answer in time"),
    cause: { kind: "timeout", retryable: true },
  });
});

test("a timeout after the first output is not retryable", async () => {
  const { host, model, sessionID } = await setUpSession({ deadlines: { requestMs: 1_000 } });
  model.reply({ deltas: Array.from({ length: 40 }, () => "Hello. "), delayMs: 50 });
  await run(host, sessionID, "Hi");
  await expect(readFailure(host, sessionID)).resolves.toMatchObject({ cause: { kind: "timeout", retryable: false } });
});

test("the timeouts of a provider's options take precedence over those of the host", async () => {
  const setup = await setUp();
  const config = setup.model.config();
  const limits = { headerTimeout: 100, chunkTimeout: 100, timeout: false };
  Object.assign(config.provider.mock.options, limits);
  const host = await setup.open({ config, deadlines: { requestMs: 1 } });
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ deltas: ["Hel", "lo."], delayMs: 20 }, { text: "Too late.", gate: "start" });
  await run(host, sessionID, "Hi");
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
  await run(host, sessionID, "Again");
  await expect(readFailure(host, sessionID)).resolves.toMatchObject({ cause: { kind: "timeout" } });
});

test("an unreachable server fails the step", async () => {
  const { host, model, sessionID } = await setUpSession();
  await model.close();
  await run(host, sessionID, "Hi");
  await expect(readFailure(host, sessionID)).resolves.toMatchObject({ cause: { kind: "transport" } });
});

test("keeps the text of a broken stream, and sends it with the next request", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ deltas: ["Once ", "upon"], cut: true }, { text: "a time." });
  await run(host, sessionID, "Tell me a story");
  expect(model.requests).toHaveLength(1);
  const history = await readHistory(host, sessionID);
  expect(types(history).slice(2)).toEqual(["step.started", "text.started", "text.ended", "step.failed"]);
  await expect(readFailure(host, sessionID)).resolves.toMatchObject({ cause: { kind: "invalid-output" } });
  await run(host, sessionID, "Go on");
  expect((await model.received(2)).body.messages.slice(1)).toEqual([
    { role: "user", content: "Tell me a story" },
    { role: "assistant", content: "Once upon" },
    { role: "user", content: "Go on" },
  ]);
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: a time.");
});

test("a stream that breaks within a call leaves no open call", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ text: "See.", tools: [{ name: "read", input: { path: "a.txt" }, id: "call_a" }], cut: true });
  await run(host, sessionID, "Read");
  await run(host, sessionID, "Go on");
  expect((await model.received(2)).body.messages.slice(2, 4)).toEqual([
    expect.objectContaining({ role: "assistant", content: "See." }),
    expect.objectContaining({ role: "tool", tool_call_id: "call_a" }),
  ]);
  expect((await readTranscript(host, sessionID))[1]).toBe("assistant: See.[read error]");
});

describe("an unreadable answer fails the step, and the next prompt works", () => {
  const chunk = (content: object) => `data: ${JSON.stringify(content)}\n\n`;
  const text = chunk({ choices: [{ index: 0, delta: { content: "Hel" } }] });
  test.each([
    ["not an event stream", "<html>Welcome</html>"],
    ["no JSON", "data: {half\n\n"],
    ["no finish", text],
    ["an error in the stream", text + chunk({ error: { message: "Overheated", code: "overheated" } })],
  ])("%s", async (_, raw) => {
    const { host, model, sessionID } = await setUpSession();
    model.reply({ raw }, { text: "Hello." });
    await run(host, sessionID, "Hi");
    await expect(readFailure(host, sessionID)).resolves.toMatchObject({ type: "unknown", message: expect.any(String) });
    await run(host, sessionID, "Again");
    expect((await readTranscript(host, sessionID)).slice(-2)).toEqual(["user: Again", "assistant: Hello."]);
  });
});

test("asks again for an answer of nothing", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ raw: "" }, { text: "Hello." });
  await run(host, sessionID, "Hi");
  expect(await readTranscript(host, sessionID)).toEqual(["user: Hi", "assistant: Hello."]);
  expect(model.requests).toHaveLength(2);
});

test("removes the API key from an error message of the provider", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ status: 401, body: { error: { message: "Bearer secret is no key" } } });
  await run(host, sessionID, "Hi");
  expect(JSON.stringify(await readHistory(host, sessionID))).not.toContain("Bearer secret");
});
