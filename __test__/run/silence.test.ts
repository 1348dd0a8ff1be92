import { Silence } from "../../dist/client/run/silence.js";
import { finish, ofType, readHistory, readUntil, setUpClient, WAYS } from "./support";
import type { OpenCodeEvent } from "../../index.js";

/** Short for a test, long enough for an answer of the scripted model. */
const SILENT_AFTER_MS = 2_000;

describe.each(WAYS)("a silent run %s", (way) => {
  test.each([
    ["the provider sends nothing", { text: "Never.", gate: "shut" }],
    ["the answer stops in the middle", { deltas: ["Half", " an answer"], gate: "shut" }],
    ["a tool says nothing", { tools: [{ name: "bash", input: { command: "sleep 60", description: "Waits" } }] }],
  ])("ends and stops its session if %s", async (_, reply) => {
    const { client, model } = await setUpClient(way);
    model.reply(reply);
    const { result } = await finish(client, { prompt: "Hi", silentAfterMs: SILENT_AFTER_MS });
    const message = "Provider and tools gave no sign of life for 2 s";
    expect(result).toMatchObject({
      outcome: "failed",
      reason: message,
      error: { message, cause: { kind: "silent", retryable: true } },
    });
    const { sessionID } = result;
    await expect(client.sessions.active()).resolves.toEqual({});
    expect((await readHistory(client, sessionID)).some(({ type }) => /interrupted|failed/u.test(type))).toBe(true);
    // The session goes on.
    model.reply({ text: "Here." });
    await expect(client.sessions.run({ sessionID, prompt: "Hi" }).text).resolves.toBe("Here.");
  });

  test("waits for a user as long as the user needs", async () => {
    const { client, model } = await setUpClient(way);
    const questions = [{ question: "Which?", header: "Which", options: [{ label: "A", description: "a" }] }];
    model.reply({ tools: [{ name: "question", input: { questions } }] });
    const run = client.sessions.run({ prompt: "Choose", unanswered: "wait", silentAfterMs: 1_000 });
    const parts = run[Symbol.asyncIterator]();
    const read = await readUntil(parts, ({ type }) => type === "needs-input");
    const request = ofType(read, "needs-input")[0]!.request;
    // Another run of the same host is silent for longer.
    model.reply({ text: "Never.", gate: "shut" });
    const other = await client.sessions.run({ prompt: "Hi", silentAfterMs: 2_500 }).result;
    expect(other).toMatchObject({ outcome: "failed", error: { cause: { kind: "silent" } } });
    model.reply({ text: "A." });
    await client.questions.reply({ sessionID: request.sessionID, requestID: request.id, answers: [["A"]] });
    await expect(run.result).resolves.toMatchObject({ outcome: "completed" });
  });
});

test.each([0, -1, 1.5, "1", true, null, 2 ** 31])("silentAfterMs %j is refused", async (silentAfterMs) => {
  const { client } = await setUpClient("in memory");
  const run = client.sessions.run({ prompt: "Hi", silentAfterMs: silentAfterMs as never });
  await expect(run.result).rejects.toMatchObject({ _tag: "InvalidRequestError", field: "silentAfterMs" });
});

describe("the time without a sign of life", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  /** An event with the members that count. */
  const event = (type: string, status?: object, sessionID = "ses_1") =>
    ({ type, data: { sessionID, status } }) as never as OpenCodeEvent;

  function begin(limitMs: number | false = 1_000) {
    const ended: number[] = [];
    const silence = new Silence(limitMs, (ms) => ended.push(ms));
    silence.start();
    return { silence, ended };
  }

  test.each([
    "session.next.text.delta",
    "session.next.reasoning.delta",
    "session.next.tool.input.delta",
    "session.next.tool.reported",
    "session.next.tool.success",
    "session.next.step.started",
    "session.next.compaction.delta",
    "session.next.retried",
    "session.next.prompted",
  ])("begins anew with %s", (type) => {
    const { silence, ended } = begin();
    jest.advanceTimersByTime(900);
    silence.apply(event(type));
    jest.advanceTimersByTime(900);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(100);
    expect(ended).toEqual([1_000]);
    silence.stop();
  });

  test.each(["session.next.prompt.admitted", "session.next.agent.switched", "session.updated", "session.next.moved"])(
    "goes on with %s",
    (type) => {
      const { silence, ended } = begin();
      jest.advanceTimersByTime(900);
      silence.apply(event(type));
      silence.apply(event("session.status", { type: "busy", silentMs: 30_000 }));
      jest.advanceTimersByTime(100);
      expect(ended).toEqual([1_000]);
      silence.stop();
    },
  );

  test("begins after a wait that the session announces", () => {
    const { silence, ended } = begin();
    silence.apply(event("session.status", { type: "retry", attempt: 1, message: "busy", next: Date.now() + 5_000 }));
    silence.apply(event("session.next.retried"));
    jest.advanceTimersByTime(5_900);
    expect(ended).toEqual([]);
    silence.apply(event("session.status", { type: "busy" }));
    jest.advanceTimersByTime(900);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(100);
    expect(ended).toEqual([1_000]);
    silence.stop();
  });

  test("begins after the longest wait of a session and its children, whatever else they do", () => {
    const { silence, ended } = begin();
    const wait = { type: "retry", attempt: 1, message: "busy", next: Date.now() + 5_000 };
    silence.apply(event("session.status", wait, "ses_child"));
    silence.apply(event("session.status", { type: "busy" }));
    jest.advanceTimersByTime(5_900);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(100);
    expect(ended).toEqual([1_000]);
    silence.stop();
  });

  test("does not change with the clock of the machine", () => {
    const { silence, ended } = begin();
    jest.setSystemTime(Date.now() + 3_600_000);
    jest.advanceTimersByTime(900);
    expect(ended).toEqual([]);
    jest.setSystemTime(Date.now() - 7_200_000);
    jest.advanceTimersByTime(100);
    expect(ended).toEqual([1_000]);
    silence.stop();
  });

  test("is told again if nothing changes, and has no end without a limit", () => {
    const { silence, ended } = begin();
    jest.advanceTimersByTime(3_000);
    expect(ended).toEqual([1_000, 1_000, 1_000]);
    silence.stop();
    const endless = begin(false);
    expect(jest.getTimerCount()).toBe(0);
    endless.silence.apply(event("session.next.text.delta"));
    expect(jest.getTimerCount()).toBe(0);
  });
});
