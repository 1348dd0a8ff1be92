import { createClient } from "../../index.js";
import { finish, ofType, readParts, readTranscript, readUntil, setUpClient, streamedText, WAYS } from "./support";

describe.each(WAYS)("a run %s", (way) => {
  test("is separate from a prompt that is queued next to it", async () => {
    const { client, host, model } = await setUpClient(way);
    const { id: sessionID } = await host.sessions.create();
    model.reply({ deltas: ["Answer", " one"], gate: "one" }, { deltas: ["Answer", " two"], gate: "two" });
    const first = client.sessions.run({ sessionID, prompt: "One" });
    await model.reached("one");
    const second = client.sessions.run({ sessionID, prompt: "Two", delivery: "queue" });
    await second.messageID;
    model.release("one");
    await expect(first.result).resolves.toMatchObject({ outcome: "completed", text: "Answer one" });
    model.release("two");
    await expect(second.result).resolves.toMatchObject({ outcome: "completed", text: "Answer two" });
    expect(streamedText(await readParts(first))).toBe("Answer one");
    expect(streamedText(await readParts(second))).toBe("Answer two");
  });

  test("is not ended by a steering prompt", async () => {
    const { client, host, model } = await setUpClient(way);
    const { id: sessionID } = await host.sessions.create();
    model.reply({ tools: [{ name: "glob", input: { pattern: "*" } }], gate: "tools" }, { text: "Both are answered." });
    const first = client.sessions.run({ sessionID, prompt: "One" });
    await model.reached("tools");
    const second = client.sessions.run({ sessionID, prompt: "Two" });
    await second.messageID;
    model.release("tools");
    await expect(first.result).resolves.toMatchObject({ text: "Both are answered.", messages: [{}, {}] });
    await expect(second.result).resolves.toMatchObject({ text: "Both are answered.", messages: [{}] });
    expect(ofType(await readParts(second), "tool")).toEqual([]);
  });

  test("ends with its own answer if a steering prompt waits for the next turn", async () => {
    const { client, host, model } = await setUpClient(way);
    const { id: sessionID } = await host.sessions.create();
    model.reply({ deltas: ["Answer", " one"], gate: "one" }, { text: "Answer two" });
    const first = client.sessions.run({ sessionID, prompt: "One" });
    await model.reached("one");
    const second = client.sessions.run({ sessionID, prompt: "Two" });
    await second.messageID;
    model.release("one");
    await expect(first.text).resolves.toBe("Answer one");
    await expect(second.text).resolves.toBe("Answer two");
  });

  test("with an id may be repeated, and is answered once", async () => {
    const { client, host, model } = await setUpClient(way);
    const { id: sessionID } = await host.sessions.create();
    model.reply({ text: "Once." });
    const input = { sessionID, id: "msg_mine", prompt: "Hi" };
    const { result } = await finish(client, input);
    const again = await finish(client, input);
    expect(again.result).toEqual(result);
    expect(streamedText(again.parts)).toBe("Once.");
    expect(model.requests).toHaveLength(1);
  });

  test("yields all parts if it is iterated late, slowly, and more than once", async () => {
    const { client, model } = await setUpClient(way);
    const deltas = Array.from({ length: 200 }, (_, index) => `${index} `);
    model.reply({ deltas, gate: "end" });
    const run = client.sessions.run({ prompt: "Count" });
    const slow = run[Symbol.asyncIterator]();
    const firstParts = await readUntil(slow, ({ type }) => type === "text");
    model.release("end");
    await run.result;
    const rest = await readUntil(slow, ({ type }) => type === "end");
    expect(streamedText([...firstParts, ...rest])).toBe(deltas.join(""));
    const late = await readParts(run);
    expect(streamedText(late)).toBe(deltas.join(""));
    expect(ofType(late, "event")).toEqual(ofType([...firstParts, ...rest], "event"));
  });

  test("streams the text while the model generates it", async () => {
    const { client, model } = await setUpClient(way);
    model.reply({ deltas: ["Half", " an answer"], gate: "middle" });
    const run = client.sessions.run({ prompt: "Hi" });
    const parts = run[Symbol.asyncIterator]();
    const firstParts = await readUntil(parts, ({ type }) => type === "text");
    expect(streamedText(firstParts)).toBe("Half");
    model.release("middle");
    const rest = await readUntil(parts, ({ type }) => type === "end");
    expect(streamedText(rest)).toBe(" an answer");
  });

  test("yields the request of a subagent", async () => {
    const { client, model, setup } = await setUpClient(way);
    setup.write(".env", "SECRET=1");
    const task = { description: "Reads", prompt: "Read .env", agent: "general" };
    model.reply(
      { tools: [{ name: "task", input: task }] },
      { tools: [{ name: "read", input: { path: ".env" } }] },
      { text: "Not allowed." },
      { text: "It was not allowed." },
    );
    const { parts, result } = await finish(client, { prompt: "Delegate", unanswered: { denyAfterMs: 10 } });
    expect(result).toMatchObject({ outcome: "completed", text: "It was not allowed." });
    const [asked] = ofType(parts, "needs-input");
    expect(asked).toMatchObject({ kind: "permission" });
    expect(asked?.request.sessionID).not.toBe(result.sessionID);
  });
});

describe.each(WAYS)("aborting a run %s", (way) => {
  test("interrupts the answer of the model", async () => {
    const { client, model } = await setUpClient(way);
    model.reply({ deltas: ["Half", " an answer"], gate: "middle" });
    const run = client.sessions.run({ prompt: "Hi" });
    await readUntil(run[Symbol.asyncIterator](), ({ type }) => type === "text");
    await run.abort();
    await expect(run.result).resolves.toMatchObject({ outcome: "interrupted", text: "Half" });
  });

  test("withdraws a pending prompt", async () => {
    const { client, host, model } = await setUpClient(way);
    const { id: sessionID } = await host.sessions.create();
    model.reply({ text: "Answer one", gate: "one" });
    const first = client.sessions.run({ sessionID, prompt: "One" });
    await model.reached("one");
    const second = client.sessions.run({ sessionID, prompt: "Two", delivery: "queue" });
    await second.messageID;
    await second.abort();
    await expect(second.result).resolves.toMatchObject({ outcome: "interrupted", reason: "The run was aborted" });
    model.release("one");
    await expect(first.text).resolves.toBe("Answer one");
    await expect(readTranscript(client, sessionID)).resolves.toEqual(["user: One", "assistant: Answer one"]);
  });

  test("works through its signal", async () => {
    const { client, model } = await setUpClient(way);
    const controller = new AbortController();
    model.reply({ text: "Never.", gate: "start" });
    const run = client.sessions.run({ prompt: "Hi" }, { signal: controller.signal });
    await model.reached("start");
    controller.abort();
    await expect(run.result).resolves.toMatchObject({ outcome: "interrupted" });
  });

  test("right after its call admits no prompt", async () => {
    const { client, host } = await setUpClient(way);
    const { id: sessionID } = await host.sessions.create();
    const run = client.sessions.run({ sessionID, prompt: "Hi" });
    await run.abort();
    await expect(run.result).rejects.toMatchObject({ reason: "Transport", cause: { message: "The run was aborted" } });
    await expect(readTranscript(client, sessionID)).resolves.toEqual([]);
  });

  test("before it begins sends nothing", async () => {
    const { client } = await setUpClient(way);
    const signal = AbortSignal.abort(new Error("Too late"));
    const run = client.sessions.run({ prompt: "Hi" }, { signal });
    await expect(run.result).rejects.toMatchObject({ reason: "Transport", cause: { message: "Too late" } });
    await expect(client.sessions.list()).resolves.toEqual({ items: [] });
  });
});

test("waits for a handler of the host", async () => {
  const { client, host, model, setup } = await setUpClient("in memory");
  setup.write(".env", "SECRET=1");
  model.reply({ tools: [{ name: "read", input: { path: ".env" } }] }, { text: "It says 1." });
  host.permissions.handle(() => "once");
  await expect(client.sessions.run({ prompt: "Read" }).text).resolves.toBe("It says 1.");
});

test("accepts a model as text", async () => {
  const { client } = await setUpClient("in memory");
  const { result } = await finish(client, { prompt: "Hi", model: "mock/m1" });
  await expect(client.sessions.get({ sessionID: result.sessionID })).resolves.toMatchObject({
    model: { providerID: "mock", id: "m1" },
  });
  await expect(client.sessions.run({ prompt: "Hi", model: "m1" }).result).rejects.toMatchObject({
    _tag: "InvalidRequestError",
    field: "model",
    message: expect.stringContaining('"provider/model"'),
  });
});

test("fifty parallel runs each receive their own answer", async () => {
  const { client } = await setUpClient("in memory");
  const runs = Array.from({ length: 50 }, () => client.sessions.run({ prompt: "Hi" }));
  const results = await Promise.all(runs.map(({ result }) => result));
  expect(new Set(results.map(({ sessionID }) => sessionID)).size).toBe(50);
  expect(results.every(({ outcome, text }) => outcome === "completed" && text !== "")).toBe(true);
});

test.each([
  [undefined, "prompt"],
  ["Hi", "prompt"],
  [{}, "prompt"],
  [{ prompt: 1 }, "prompt"],
  [{ prompt: "Hi", unanswered: "never" }, "unanswered"],
  [{ prompt: "Hi", unanswered: { denyAfterMs: 0 } }, "unanswered"],
  [{ prompt: "Hi", unanswered: null }, "unanswered"],
])("refuses the input %j before a session is created", async (input, field) => {
  const { client } = await setUpClient("in memory");
  const run = client.sessions.run(input as never);
  await expect(run.result).rejects.toMatchObject({ _tag: "InvalidRequestError", field });
  await expect(client.sessions.list()).resolves.toEqual({ items: [] });
});

test("a run ends although one request for the state of the session failed", async () => {
  const { host } = await setUpClient("in memory", { config: {} });
  let failures = 0;
  const fetch = (url: string, init: RequestInit) => {
    if (!url.endsWith("/api/session/active") || failures > 0) return host.fetch(url, init);
    failures += 1;
    return Promise.resolve(new Response("Bad gateway", { status: 502 }));
  };
  const client = createClient({ baseUrl: "http://opencode.local", fetch });
  await expect(client.sessions.run({ prompt: "Hi" }).result).resolves.toMatchObject({ outcome: "not-started" });
  expect(failures).toBe(1);
});
