import { rejection } from "../client/support";
import { readHistory, readTranscript, run, setUpSession } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

// The types forbid these inputs. JavaScript allows them.
const untyped = (host: Started["host"]) => host as any;

const invalid = (problem: object) => ({ _tag: "InvalidRequestError", message: expect.any(String), ...problem });

describe("an unknown session", () => {
  test.each(["get", "wait", "interrupt", "context", "messages", "history"] as const)("sessions.%s", async (method) => {
    const { host } = await setUpSession();
    await expect(host.sessions[method]({ sessionID: "ses_none" })).rejects.toMatchObject({
      _tag: "SessionNotFoundError",
      sessionID: "ses_none",
    });
  });

  test("rejects prompts, streams and switches", async () => {
    const { host } = await setUpSession();
    const sessionID = "ses_none";
    const model = { providerID: "mock", id: "m1" };
    for (const call of [
      () => host.sessions.prompt({ sessionID, prompt: { text: "Hi" } }),
      () => host.sessions.events({ sessionID })[Symbol.asyncIterator]().next(),
      () => host.sessions.switchAgent({ sessionID, agent: "plan" }),
      () => host.sessions.switchModel({ sessionID, model }),
      () => host.sessions.message({ sessionID, messageID: "msg_none" }),
    ]) {
      await expect(call()).rejects.toMatchObject({ _tag: "SessionNotFoundError", sessionID });
    }
    await expect(host.sessions.list()).resolves.toMatchObject({ items: [{}] });
  });
});

test("does not find a message of another session", async () => {
  const { host, sessionID } = await setUpSession();
  const { id } = await run(host, sessionID, "Hi");
  const other = await host.sessions.create();
  await expect(host.sessions.message({ sessionID: other.id, messageID: id })).rejects.toMatchObject({
    _tag: "MessageNotFoundError",
    sessionID: other.id,
    messageID: id,
  });
});

describe("invalid ids are refused", () => {
  test.each(["nonsense", "msg_1", "ses\n", "../ses_1", "ses_" + "x".repeat(300), "ses_/..", " ses_1", "ses_\0"])(
    "session, case %#",
    async (sessionID) => {
      const { host } = await setUpSession();
      const error = await rejection(host.sessions.get({ sessionID }));
      expect(["InvalidRequestError", "SessionNotFoundError"]).toContain(error._tag);
    },
  );

  test.each(["", ".", "..", undefined, null])("session %j, before it is sent", async (sessionID) => {
    const { host } = await setUpSession();
    await expect(untyped(host).sessions.get({ sessionID })).rejects.toMatchObject(invalid({ field: "sessionID" }));
  });

  test("of a message", async () => {
    const { host, sessionID } = await setUpSession();
    await expect(host.sessions.message({ sessionID, messageID: "nonsense" })).rejects.toMatchObject(
      invalid({ kind: "Params", message: expect.stringContaining('["messageID"]') }),
    );
  });

  test("of a new session and of a prompt", async () => {
    const { host, sessionID } = await setUpSession();
    await expect(host.sessions.create({ id: "nonsense" })).rejects.toMatchObject(
      invalid({ kind: "Payload", message: expect.stringContaining('["id"]') }),
    );
    await expect(host.sessions.prompt({ sessionID, id: "ses_1", prompt: { text: "Hi" } })).rejects.toMatchObject(
      invalid({ kind: "Payload", message: expect.stringContaining('["id"]') }),
    );
  });
});

describe("a prompt of the wrong type is refused with the field's name, and is not stored", () => {
  test.each([
    ['["prompt"]', {}],
    ['["prompt"]', { prompt: null }],
    ['["prompt"]', { prompt: 5 }],
    ['["prompt"]["text"]', { prompt: {} }],
    ['["prompt"]["text"]', { prompt: { text: 5 } }],
    ['["prompt"]["files"]', { prompt: { text: "Hi", files: "a.txt" } }],
    ['["prompt"]["files"][0]["uri"]', { prompt: { text: "Hi", files: [{}] } }],
    ['["delivery"]', { prompt: { text: "Hi" }, delivery: "later" }],
    ['["resume"]', { prompt: { text: "Hi" }, resume: "yes" }],
    ['["id"]', { prompt: { text: "Hi" }, id: 5 }],
  ])("%s of %j", async (path, input) => {
    const { host, model, sessionID } = await setUpSession();
    await expect(untyped(host).sessions.prompt({ sessionID, ...input })).rejects.toMatchObject(
      invalid({ kind: "Payload", message: expect.stringContaining(path) }),
    );
    await expect(readHistory(host, sessionID)).resolves.toEqual([]);
    await host.sessions.wait({ sessionID });
    expect(model.requests).toHaveLength(0);
  });

  test("rejects an input that JSON cannot represent, and does not send it", async () => {
    const { host, sessionID } = await setUpSession();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const [text, refusal] of [
      [cycle, { name: "ClientError", reason: "Transport" }],
      [5n, { _tag: "InvalidRequestError", field: "prompt.text" }],
    ] as const) {
      const error = await rejection(untyped(host).sessions.prompt({ sessionID, prompt: { text } }));
      expect(error).toMatchObject(refusal);
    }
    await expect(readHistory(host, sessionID)).resolves.toEqual([]);
  });
});

describe("a query of the wrong type is refused with the field's name", () => {
  test.each([
    ["messages", { limit: 0 }],
    ["messages", { limit: 201 }],
    ["messages", { limit: 1.5 }],
    ["messages", { limit: "many" }],
    ["messages", { order: "random" }],
    ["history", { limit: 101 }],
    ["history", { after: -1 }],
  ])("sessions.%s %j", async (method, query) => {
    const { host, sessionID } = await setUpSession();
    const error = await rejection(untyped(host).sessions[method]({ sessionID, ...query }));
    const message = expect.stringContaining(`["${Object.keys(query)[0]}"]`);
    expect(error).toMatchObject(invalid({ kind: "Query", message }));
  });
});

describe("a cursor", () => {
  test("is refused if it is malformed, or belongs to another session or list", async () => {
    const { host, sessionID } = await setUpSession();
    await run(host, sessionID, "Hi");
    const other = await host.sessions.create();
    const messages = await host.sessions.messages({ sessionID });
    const sessions = await host.sessions.list();
    for (const call of [
      () => host.sessions.list({ cursor: "nonsense" as never }),
      () => host.sessions.list({ cursor: messages.next as never }),
      () => host.sessions.messages({ sessionID, cursor: "nonsense" as never }),
      () => host.sessions.messages({ sessionID, cursor: sessions.next as never }),
      () => host.sessions.messages({ sessionID: other.id, cursor: messages.next! }),
    ]) {
      await expect(call()).rejects.toMatchObject({ _tag: "InvalidCursorError" });
    }
  });

  test("is refused together with a query", async () => {
    const { host, sessionID } = await setUpSession();
    await run(host, sessionID, "Hi");
    const { next } = await host.sessions.messages({ sessionID });
    await expect(untyped(host).sessions.messages({ sessionID, cursor: next, limit: 3 })).rejects.toMatchObject({
      _tag: "InvalidCursorError",
      message: "Cursor cannot be combined with limit",
    });
  });
});

test("refuses an invalid directory", async () => {
  const { host } = await setUpSession();
  for (const directory of ["", "relative", "~", "/a\0b", `/${"x".repeat(5_000)}`]) {
    await expect(host.sessions.create({ location: { directory } })).rejects.toMatchObject(
      invalid({ field: "location.directory" }),
    );
  }
  await expect(host.sessions.list()).resolves.toMatchObject({ items: [{}] });
});

test("replaces lone surrogates permanently in all stored texts", async () => {
  const { host, model, sessionID } = await setUpSession();
  const half = "a\ud83d b\udc00";
  model.reply({ deltas: [half, "\ud83d"] }, { tools: [{ name: "read", input: { path: half } }] });
  const receipt = await run(host, sessionID, half);
  expect(receipt.prompt.text).toBe("a\ufffd b\ufffd");
  await run(host, sessionID, "Go on");
  const [prompt, answer] = await readTranscript(host, sessionID);
  expect([prompt, answer?.isWellFormed()]).toEqual(["user: a\ufffd b\ufffd", true]);
  await expect(host.sessions.get({ sessionID: `ses_${half}` })).rejects.toHaveProperty("_tag");
});

test("keeps surrogate pairs whole wherever a text is cut", async () => {
  const { host, model, sessionID } = await setUpSession();
  const text = '\0 é 🙂 \u2028 \\ud83d "quoted" </script>';
  model.reply({ deltas: [...text] });
  await run(host, sessionID, text);
  await expect(readTranscript(host, sessionID)).resolves.toEqual([`user: ${text}`, `assistant: ${text}`]);
  expect((await model.received(1)).body.messages.at(-1)).toEqual({ role: "user", content: text });
});
