import type { OpenCodeHost, SessionDurableEvent } from "../../index.js";
import type { Reply } from "../../testkit/reply.js";
import { recorder } from "../embedded/log-support";
import { readHistory, readTranscript, readUntil, run, setUp, types, type Setup } from "../embedded/support";
import { Child } from "./child";

const sessionID = "ses_victim";
const prompt = { id: "msg_victim", prompt: { text: "Hi" } };

/** Runs a process until the model is at the gate `cut` and the session has the awaited event, then kills it. */
async function cutAt(setup: Setup, awaited: SessionDurableEvent["type"], ...replies: Reply[]) {
  setup.model.reply(...replies);
  const child = new Child("victim", { options: setup.options(), prompts: [prompt] });
  await setup.model.reached("cut");
  await child.printed("event", ({ type }) => type === awaited);
  child.kill("SIGKILL");
  await expect(child.exited).resolves.toBe("SIGKILL");
}

const cutInTheMiddle = (setup: Setup) =>
  cutAt(setup, "session.next.text.started", { deltas: ["Once upon", " a time."], gate: "cut" });

async function readRetries(host: OpenCodeHost) {
  const history = await readHistory(host, sessionID);
  return history.flatMap(({ type, data }) =>
    type === "session.next.retried" && "attempt" in data ? [data.attempt] : [],
  );
}

const CALL = { name: "read", input: { path: "a.txt" } };
const UNREAD: Reply = { text: "Never heard.", gate: "cut" };

/** The states of an interrupted session, and the actions that cause them. */
const CUTS: [state: string, cut: (setup: Setup) => Promise<void>][] = [
  ["input-unanswered", (setup) => cutAt(setup, "session.next.prompted", UNREAD)],
  ["step-open", cutInTheMiddle],
  ["continuation-due", (setup) => cutAt(setup, "session.next.step.ended", { tools: [CALL] }, UNREAD)],
];

describe.each(CUTS)("an interrupted session in the state %s", (state, cut) => {
  test("waits until a caller resumes it", async () => {
    const setup = await setUp();
    setup.write("a.txt", "A");
    await cut(setup);
    const asked = setup.model.requests.length;
    const host = await setup.open();
    const history = await readHistory(host, sessionID);
    await expect(host.sessions.interrupted()).resolves.toEqual([
      { sessionID, state, messageID: expect.any(String), seq: expect.any(Number), time: expect.any(Number) },
    ]);
    // No drain runs.
    await expect(host.sessions.active()).resolves.toEqual({});
    await host.sessions.wait({ sessionID });
    expect(setup.model.requests).toHaveLength(asked);
    await expect(readHistory(host, sessionID)).resolves.toEqual(history);

    setup.model.reply({ text: "I go on." });
    await host.sessions.resume({ sessionID });
    await host.sessions.wait({ sessionID });
    expect(setup.model.requests).toHaveLength(asked + 1);
    const transcript = await readTranscript(host, sessionID);
    expect([transcript[0], transcript.at(-1)]).toEqual(["user: Hi", "assistant: I go on."]);
    await expect(host.sessions.interrupted()).resolves.toEqual([]);
    await expect(readRetries(host)).resolves.toEqual([]);
  });

  test("is resumed at opening with the option recovery", async () => {
    const setup = await setUp();
    setup.write("a.txt", "A");
    await cut(setup);
    const asked = setup.model.requests.length;
    setup.model.reply({ text: "I go on." });
    const { log: sink, waitForMessage } = recorder();
    const host = await setup.open({ recovery: "resume", log: { targets: { "opencode::runtime": "info" }, sink } });
    await setup.model.received(asked + 1);
    const entry = await waitForMessage("an interrupted session is resumed");
    expect(entry).toMatchObject({ level: "info", target: "opencode::runtime", sessionID, fields: { attempt: 1 } });
    await host.sessions.wait({ sessionID });
    const transcript = await readTranscript(host, sessionID);
    expect([transcript[0], transcript.at(-1)]).toEqual(["user: Hi", "assistant: I go on."]);
    expect(transcript.filter((line) => line === "user: Hi")).toHaveLength(1);
    await expect(host.sessions.interrupted()).resolves.toEqual([]);
    await expect(readRetries(host)).resolves.toEqual([1]);
    // It is settled, so the next opening starts nothing.
    await host.close();
    const again = await setup.open({ recovery: "resume" });
    await again.sessions.wait({ sessionID });
    expect(setup.model.requests).toHaveLength(asked + 1);
  });
});

test("a session is not resumed again after three attempts without progress", async () => {
  const setup = await setUp();
  await cutInTheMiddle(setup);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    setup.model.reply({ deltas: ["Once upon", " a time."], gate: `attempt ${attempt}` });
    const child = new Child("opener", { options: setup.options({ recovery: "resume" }) });
    await setup.model.reached(`attempt ${attempt}`);
    child.kill("SIGKILL");
    await expect(child.exited).resolves.toBe("SIGKILL");
  }
  const { log, waitForMessage } = recorder();
  const host = await setup.open({ recovery: "resume", log });
  const location = { directory: setup.directory };
  const left = { level: "warn", sessionID, location, fields: { attempts: 3 } };
  await expect(waitForMessage("an interrupted session is left alone")).resolves.toMatchObject(left);
  await expect(readRetries(host)).resolves.toEqual([1, 2, 3]);
  await host.sessions.wait({ sessionID });
  expect(setup.model.requests).toHaveLength(4);
  await expect(host.sessions.interrupted()).resolves.toMatchObject([{ sessionID }]);
  // A prompt of the caller still works, and afterwards the session can be recovered again.
  setup.model.reply({ text: "I go on." });
  await run(host, sessionID, "Go on");
  await expect(host.sessions.interrupted()).resolves.toEqual([]);
});

test("an otherwise idle process stays alive until the recovered sessions have settled", async () => {
  const setup = await setUp();
  await cutInTheMiddle(setup);
  setup.model.reply({ text: "I go on." });
  const child = new Child("opener", { options: setup.options({ recovery: "resume" }) });
  await expect(child.exited).resolves.toBe(0);
  expect(child.lines).toEqual([{ line: "open" }]);
  const host = await setup.open();
  expect((await readHistory(host, sessionID)).at(-1)).toMatchObject({ type: "session.next.step.ended" });
});

test("a pending prompt is not promoted by the recovery", async () => {
  const setup = await setUp();
  const child = new Child("victim", { options: setup.options(), prompts: [{ ...prompt, resume: false }] });
  await child.printed("receipt");
  child.kill("SIGKILL");
  await child.exited;
  const host = await setup.open({ recovery: "resume" });
  await host.sessions.wait({ sessionID });
  expect(types(await readHistory(host, sessionID))).toEqual(["prompt.admitted"]);
  await expect(host.sessions.interrupted()).resolves.toEqual([]);
});

test("a turn that was interrupted by closing is not resumed", async () => {
  const setup = await setUp();
  const host = await setup.open();
  await host.sessions.create({ id: sessionID });
  setup.model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  await host.sessions.prompt({ sessionID, ...prompt });
  await readUntil(host.sessions.events({ sessionID })[Symbol.asyncIterator](), "session.next.text.started");
  await host.close();
  const again = await setup.open({ recovery: "resume" });
  await again.sessions.wait({ sessionID });
  await expect(again.sessions.interrupted()).resolves.toEqual([]);
  expect(setup.model.requests).toHaveLength(1);
});
