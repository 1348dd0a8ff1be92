import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createClient, isClientError } from "../../index.js";
import { readUntil as readLiveUntil, setUp, subscribe } from "../embedded/support";
import { finish, ofType, readHistory, readUntil, setUpClient, streamedText, WAYS } from "./support";

describe.each(WAYS)("a run %s", (way) => {
  test("with an answer is completed", async () => {
    const { client, model } = await setUpClient(way);
    model.reply(
      { tools: [{ name: "glob", input: { pattern: "*" }, id: "call_a" }], usage: { input: 100, output: 7 } },
      { reasoning: "Hm.", deltas: ["It ", "is ", "empty."], usage: { input: 120, cached: 100, output: 5 } },
    );
    const { parts, result } = await finish(client, { prompt: "What is here?" });
    expect(result).toMatchObject({
      outcome: "completed",
      finish: "stop",
      text: "It is empty.",
      usage: { input: 120, output: 12, cache: { read: 100 } },
      messages: [{ type: "assistant" }, { type: "assistant" }],
    });
    expect(result).not.toHaveProperty("error");
    expect(result).not.toHaveProperty("reason");
    expect(streamedText(parts)).toBe("It is empty.");
    expect(
      ofType(parts, "reasoning")
        .map(({ text }) => text)
        .join(""),
    ).toBe("Hm.");
    expect(ofType(parts, "tool").map(({ tool, status, callID }) => [tool, status, callID])).toEqual([
      ["glob", "pending", "call_a"],
      ["glob", "running", "call_a"],
      ["glob", "completed", "call_a"],
    ]);
    // The durable events of this prompt's work, each once and in order.
    const { sessionID, messageID } = result;
    const history = await readHistory(client, sessionID);
    const events = ofType(parts, "event").map(({ event }) => event);
    expect(events).toEqual(history.slice(1));
    expect(events[0]).toMatchObject({ type: "session.next.prompted", data: { messageID } });
    const message = await client.sessions.message({ sessionID, messageID });
    expect(message).toMatchObject({ type: "user", text: "What is here?" });
  });

  test("without a usable model is not started, and has the reason", async () => {
    const { client, host } = await setUpClient(way, { config: {} });
    const { parts, result } = await finish(client, { prompt: "Hi" });
    expect(result).toMatchObject({ outcome: "not-started", reason: expect.stringContaining("model"), text: "" });
    expect(parts.map(({ type }) => type)).toEqual(["end"]);
    await expect(host.sessions.inbox.list({ sessionID: result.sessionID })).resolves.toMatchObject([
      { id: result.messageID },
    ]);
  });

  test("in a missing directory is not started, and has the reason", async () => {
    const { client, setup } = await setUpClient(way);
    rmSync(setup.directory, { recursive: true });
    const { result } = await finish(client, { prompt: "Hi" });
    expect(result).toMatchObject({ outcome: "not-started", reason: expect.stringContaining(setup.directory) });
  });

  test("with a provider failure is failed, and has the cause", async () => {
    const { client, model } = await setUpClient(way);
    model.reply({ status: 400, body: { error: { message: "Unknown parameter" } } });
    const { result } = await finish(client, { prompt: "Hi" });
    expect(result).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("Unknown parameter"),
      error: { message: expect.stringContaining("Unknown parameter"), cause: { kind: "invalid-request", status: 400 } },
    });
  });

  test.each([
    ["length", "length", "The answer reached its limit"],
    ["max_tokens", "length", "The answer reached its limit"],
    ["model_length", "length", "The answer reached its limit"],
    ["content_filter", "content-filter", "The provider withheld the rest"],
  ])("with the finish reason %s is incomplete", async (finishReason, expected, reason) => {
    const { client, model } = await setUpClient(way);
    model.reply({ text: "Half an ans", finish: finishReason });
    const { result } = await finish(client, { prompt: "Hi" });
    expect(result).toMatchObject({ outcome: "incomplete", finish: expected, reason, text: "Half an ans" });
    expect(result).not.toHaveProperty("error");
  });

  test.each(["end_turn", "eos"])("with the finish reason %s is completed", async (finishReason) => {
    const { client, model } = await setUpClient(way);
    model.reply({ text: "An answer", finish: finishReason });
    const { result } = await finish(client, { prompt: "Hi" });
    expect(result).toMatchObject({ outcome: "completed", finish: "stop" });
  });

  test.each(["error", "network_error", "insufficient_system_resource", "abort", "of_the_future"])(
    "with the finish reason %s is failed, keeps its text and runs no call",
    async (finishReason) => {
      const { client, model, setup } = await setUpClient(way);
      const input = { command: "touch ran.txt", description: "Writes a file" };
      model.reply({ text: "Half an ans", tools: [{ name: "bash", input, id: "c1" }], finish: finishReason });
      const { parts, result } = await finish(client, { prompt: "Hi" });
      const message = `The provider ended its answer with "${finishReason}"`;
      expect(result).toMatchObject({ outcome: "failed", error: { message }, text: "Half an ans" });
      expect(result).not.toHaveProperty("finish");
      expect(existsSync(join(setup.directory, "ran.txt"))).toBe(false);
      expect(ofType(parts, "tool").at(-1)).toMatchObject({
        status: "failed",
        error: { message: `The call did not run, because the answer failed: ${message}` },
      });
      expect(model.requests).toHaveLength(1);
      model.reply({ text: "Fine." });
      const next = await finish(client, { sessionID: result.sessionID, prompt: "Again" });
      expect(next.result).toMatchObject({ outcome: "completed", text: "Fine." });
    },
  );

  test("asks again if an answer fails before any output", async () => {
    const { client, model } = await setUpClient(way);
    model.reply({ text: "", finish: "network_error" }, { raw: ": ping\n\n" }, { text: "Here." });
    const { result } = await finish(client, { prompt: "Hi" });
    expect(result).toMatchObject({ outcome: "completed", text: "Here." });
    expect(model.requests).toHaveLength(3);
    const history = await readHistory(client, result.sessionID);
    expect(history.filter(({ type }) => type === "session.next.retried")).toHaveLength(1);
  });

  test("with an unanswered permission continues without it", async () => {
    const { client, model, setup } = await setUpClient(way);
    setup.write(".env", "SECRET=1");
    model.reply({ tools: [{ name: "read", input: { path: ".env" } }] }, { text: "I may not read it." });
    const { parts, result } = await finish(client, { prompt: "Read .env", unanswered: { denyAfterMs: 20 } });
    expect(result).toMatchObject({ outcome: "completed", text: "I may not read it." });
    expect(ofType(parts, "needs-input")).toMatchObject([{ kind: "permission", request: { action: "read" } }]);
    expect(ofType(parts, "tool").at(-1)).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("not answered within 0.02 s") },
    });
  });

  test("with a granted permission continues with it", async () => {
    const { client, model, setup } = await setUpClient(way);
    setup.write(".env", "SECRET=1");
    model.reply({ tools: [{ name: "read", input: { path: ".env" } }] }, { text: "It says 1." });
    const run = client.sessions.run({ prompt: "Read .env" });
    for await (const part of run) {
      if (part.type !== "needs-input") continue;
      const { sessionID, id: requestID } = part.request;
      await client.permissions.reply({ sessionID, requestID, reply: "once" });
    }
    await expect(run.result).resolves.toMatchObject({ outcome: "completed", text: "It says 1." });
  });

  test("with a rejected permission is declined", async () => {
    const { client, model, setup } = await setUpClient(way);
    setup.write(".env", "SECRET=1");
    model.reply({ tools: [{ name: "read", input: { path: ".env" } }] });
    const run = client.sessions.run({ prompt: "Read .env", unanswered: "wait" });
    const parts = run[Symbol.asyncIterator]();
    const asked = (await readUntil(parts, ({ type }) => type === "needs-input")).at(-1);
    if (asked?.type !== "needs-input") throw new Error("No request");
    const { sessionID, id: requestID } = asked.request;
    await client.permissions.reply({ sessionID, requestID, reply: "reject" });
    await expect(run.result).resolves.toMatchObject({ outcome: "declined", reason: "A request was rejected" });
  });

  test("with an unanswered question is declined, and has the reason", async () => {
    const { client, model } = await setUpClient(way);
    const questions = [{ question: "Which?", header: "Which", options: [{ label: "A", description: "a" }] }];
    model.reply({ tools: [{ name: "question", input: { questions } }] });
    const { parts, result } = await finish(client, { prompt: "Choose", unanswered: "deny" });
    expect(result).toMatchObject({ outcome: "declined", reason: "This run answers no requests" });
    expect(ofType(parts, "needs-input")).toMatchObject([{ kind: "question", request: { questions } }]);
  });

  test("with an interruption during a tool is interrupted", async () => {
    const { client, model } = await setUpClient(way);
    model.reply({ tools: [{ name: "bash", input: { command: "sleep 60", description: "Waits" } }] });
    const run = client.sessions.run({ prompt: "Wait" });
    const parts = run[Symbol.asyncIterator]();
    await readUntil(parts, (part) => part.type === "tool" && part.status === "running");
    await client.sessions.interrupt({ sessionID: await run.sessionID });
    await expect(run.result).resolves.toMatchObject({
      outcome: "interrupted",
      reason: "The session was interrupted",
      messages: [{ type: "assistant" }],
    });
  });

  test("with an interruption before the first byte is interrupted, and nothing continues it", async () => {
    const { client, model, setup, host } = await setUpClient(way);
    model.reply({ text: "Never.", gate: "start" });
    const run = client.sessions.run({ prompt: "Hi" });
    await model.reached("start");
    await client.sessions.interrupt({ sessionID: await run.sessionID });
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "interrupted", text: "", messages: [] });
    const { sessionID, messageID } = result;
    expect((await readHistory(client, sessionID)).at(-1)).toMatchObject({
      type: "session.next.interrupted",
      data: { messageID },
    });
    await expect(client.sessions.interrupted()).resolves.toEqual([]);
    await host.close();
    const again = await setup.open({ recovery: "resume" });
    await again.sessions.wait({ sessionID });
    expect(model.requests).toHaveLength(1);
  });

  test("with endless tool calls ends at the step limit", async () => {
    const { client, model } = await setUpClient(way);
    for (let turn = 0; turn < 25; turn += 1) {
      model.reply({ tools: [{ name: "glob", input: { pattern: `${turn}*` } }] });
    }
    const { result } = await finish(client, { prompt: "Look" });
    expect(result).toMatchObject({ outcome: "step-limit", reason: expect.stringContaining("25") });
    expect(result.messages).toHaveLength(25);
  });

  test("whose last turn calls a tool ends at the step limit of its agent, and nothing continues it", async () => {
    const setup = await setUp();
    const config = { ...setup.model.config(), agent: { build: { steps: 2 } } };
    const host = await setup.open({ config });
    const client = way === "in memory" ? host : createClient({ baseUrl: (await host.listen()).clientUrl });
    const { model } = setup;
    const looks = (turn: number) => ({ tools: [{ name: "glob", input: { pattern: `${turn}*` } }] });
    model.reply(looks(1), { text: "Early.", ...looks(2) });
    const live = await subscribe(host);
    const { result } = await finish(client, { prompt: "Look" });
    expect(result).toMatchObject({ outcome: "step-limit", text: "Early.", reason: expect.stringContaining("2 turns") });
    expect((await readLiveUntil(live, "session.error")).at(-1)).toMatchObject({
      data: {
        error: { data: { message: expect.stringContaining("2 Provider Turns") }, cause: { kind: "step-limit" } },
      },
    });
    const ended = (await readHistory(client, result.sessionID)).at(-1);
    expect(ended).toMatchObject({ type: "session.next.step.ended", metadata: { turnLimit: 2 } });
    await expect(client.sessions.interrupted()).resolves.toEqual([]);
    await host.close();
    const again = await setup.open({ config, recovery: "resume" });
    await again.sessions.wait({ sessionID: result.sessionID });
    expect(model.requests).toHaveLength(2);
  });

  test("of an unknown session rejects, and its iteration throws the same error", async () => {
    const { client } = await setUpClient(way);
    const run = client.sessions.run({ sessionID: "ses_unknown", prompt: "Hi" });
    const failure = { _tag: "SessionNotFoundError", sessionID: "ses_unknown" };
    await expect(run.result).rejects.toMatchObject(failure);
    await expect(run.text).rejects.toMatchObject(failure);
    await expect(run[Symbol.asyncIterator]().next()).rejects.toMatchObject(failure);
    await expect(run.abort()).resolves.toBeUndefined();
  });

  test("is interrupted when its host closes", async () => {
    const { client, host, model } = await setUpClient(way);
    model.reply({ deltas: ["Half", " an answer"], gate: "middle" });
    const run = client.sessions.run({ prompt: "Hi" });
    const parts = run[Symbol.asyncIterator]();
    await readUntil(parts, ({ type }) => type === "text");
    await host.close();
    await expect(run.result).resolves.toMatchObject({ outcome: "interrupted" });
    const rest = await readUntil(parts, ({ type }) => type === "end");
    expect(rest.at(-1)).toMatchObject({ result: { outcome: "interrupted" } });
  });
});

test("an iteration ends with the result if the server is gone after the end of the work", async () => {
  const { host, model } = await setUpClient("in memory");
  model.reply({ deltas: ["Done."] });
  let isGone = false;
  const client = createClient({
    baseUrl: "http://localhost",
    fetch: (input, init) => (isGone ? Promise.reject(new TypeError("no connection")) : host.fetch(input, init)),
  });
  const run = client.sessions.run({ prompt: "Hi" });
  const result = await run.result;
  isGone = true;
  const parts = await readUntil(run[Symbol.asyncIterator](), ({ type }) => type === "end");
  expect(parts).toEqual([{ type: "end", result }]);
});

test("a run goes on after a pause of the provider", async () => {
  const setup = await setUp();
  const host = await setup.open({ config: setup.model.config({}, "@ai-sdk/anthropic") });
  setup.model.reply({ text: "Half", finish: "pause_turn" }, { text: " and half." });
  const { parts, result } = await finish(host, { prompt: "Hi" });
  expect(result).toMatchObject({ outcome: "completed", text: " and half.", messages: [{}, {}], usage: { output: 10 } });
  expect(streamedText(parts)).toBe("Half and half.");
  expect(setup.model.requests).toHaveLength(2);
});

test("a run of a closed host rejects", async () => {
  const { client, host } = await setUpClient("in memory");
  await host.close();
  const failure = await client.sessions.run({ prompt: "Hi" }).result.catch((error: unknown) => error);
  expect(isClientError(failure) && failure.reason).toBe("Transport");
});
