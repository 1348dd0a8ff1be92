import type { OpenCodeHost, SessionsPromptInput } from "../../index.js";
import { readHistory, readMessages, readTranscript, run, setUp, types, UNSCRIPTED } from "../embedded/support";
import type { Setup } from "../embedded/support";
import { Child } from "./child";

const sessionID = "ses_victim";
const prompt = { id: "msg_victim", prompt: { text: "Hi" } };

type Input = { prompts: Omit<SessionsPromptInput, "sessionID">[]; dieAfter?: number; dieAt?: string };

const start = (setup: Setup, input: Input) => new Child("victim", { options: setup.options(), ...input });

/** Checks the invariants that hold after a kill at any time. */
async function expectConsistent(host: OpenCodeHost) {
  const history = await readHistory(host, sessionID);
  expect(history.map(({ durable }) => durable.seq)).toEqual(history.map((_, index) => index + 1));
  for (const type of ["prompt.admitted", "prompted"]) {
    const events = history.filter((event) => types([event])[0] === type);
    const ids = events.map(({ data }) => "messageID" in data && data.messageID);
    expect(new Set(ids).size).toBe(ids.length);
  }
  await expect(host.sessions.context({ sessionID })).resolves.toStrictEqual(await readMessages(host, sessionID));
}

/** Checks that the next prompt settles, with a request that a provider accepts. */
async function expectGoesOn({ model }: Setup, host: OpenCodeHost) {
  model.reply({ text: "Welcome back." });
  await run(host, sessionID, "Go on", { id: "msg_after" });
  const transcript = await readTranscript(host, sessionID);
  expect(transcript.slice(-2)).toEqual(["user: Go on", "assistant: Welcome back."]);
  expect(transcript.filter((line) => line === "user: Hi")).toHaveLength(1);
  expect(transcript[0]).toBe("user: Hi");
  await expectConsistent(host);
}

test("a kill during a turn keeps the prompt once, and the session continues", async () => {
  const setup = await setUp();
  setup.model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  const child = start(setup, { prompts: [prompt] });
  const { receipt } = await child.printed("receipt");
  await child.printed("event", ({ type }) => type === "session.next.text.started");
  child.kill("SIGKILL");
  await expect(child.exited).resolves.toBe("SIGKILL");

  const host = await setup.open();
  expect(types(await readHistory(host, sessionID))).toEqual([
    "prompt.admitted",
    "prompted",
    "step.started",
    "text.started",
  ]);
  await expectConsistent(host);
  // No drain starts by itself, and a retry of the prompt reports its promotion.
  await expect(host.sessions.active()).resolves.toEqual({});
  await expect(host.sessions.prompt({ sessionID, ...prompt, resume: false })).resolves.toEqual({
    ...receipt,
    promotedSeq: 2,
  });
  await expectGoesOn(setup, host);
});

test("a kill before the first output of the provider keeps the prompt", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Never heard.", gate: "start" });
  const child = start(setup, { prompts: [prompt] });
  await child.printed("receipt");
  await setup.model.reached("start");
  child.kill("SIGKILL");
  await child.exited;
  const host = await setup.open();
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi"]);
  await expectGoesOn(setup, host);
});

test("a kill before the promotion leaves the prompt pending until the next wake", async () => {
  const setup = await setUp();
  const child = start(setup, { prompts: [{ ...prompt, resume: false }] });
  const { receipt } = await child.printed("receipt");
  child.kill("SIGKILL");
  await child.exited;
  const host = await setup.open();
  await expect(readMessages(host, sessionID)).resolves.toEqual([]);
  await expect(host.sessions.prompt({ sessionID, ...prompt, resume: false })).resolves.toEqual(receipt);
  await expectGoesOn(setup, host);
});

test("a kill while a call is streamed reports it to the model once as interrupted", async () => {
  const setup = await setUp();
  setup.model.reply({ tools: [{ name: "read", input: { path: "a.txt" }, id: "call_a" }], gate: "middle" });
  const child = start(setup, { prompts: [prompt] });
  await child.printed("event", ({ type }) => type === "session.next.tool.input.started");
  child.kill("SIGKILL");
  await child.exited;
  const host = await setup.open();
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: [read pending]"]);
  await expectGoesOn(setup, host);
  const { body } = await setup.model.received(2);
  expect(body.messages.slice(2, 4)).toEqual([
    expect.objectContaining({ role: "assistant", tool_calls: [expect.objectContaining({ id: "call_a" })] }),
    { role: "tool", tool_call_id: "call_a", content: expect.stringContaining("Tool execution interrupted") },
  ]);
});

test("a kill during calls settles or interrupts each of them, and none runs again", async () => {
  const setup = await setUp();
  const names = Array.from({ length: 100 }, (_, n) => `${n}.txt`);
  for (const name of names) setup.write(name, name.repeat(5_000));
  setup.model.reply({ tools: names.map((name) => ({ name: "read", input: { path: name }, id: `call_${name}` })) });
  const child = start(setup, { prompts: [prompt], dieAt: "session.next.tool.called" });
  await expect(child.exited).resolves.toBe("SIGKILL");

  const host = await setup.open();
  const before = await readHistory(host, sessionID);
  expect(before.filter(({ type }) => type === "session.next.tool.called")).toHaveLength(100);
  await expectGoesOn(setup, host);
  const settled = new Map<string, number>();
  for (const { type, data } of await readHistory(host, sessionID)) {
    if (type === "session.next.tool.success" || type === "session.next.tool.failed") {
      settled.set(data.callID, (settled.get(data.callID) ?? 0) + 1);
    }
  }
  expect([...settled.values()]).toEqual(names.map(() => 1));
});

// The events of a turn that calls a tool, and of the turn after it.
test.each(Array.from({ length: 12 }, (_, n) => n + 1))(
  "a kill at event %i of a turn with a call keeps the invariants",
  async (dieAfter) => {
    const setup = await setUp();
    setup.write("a.txt", "A");
    setup.model.reply({ text: "See.", tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "It is A." });
    const child = start(setup, { prompts: [prompt], dieAfter });
    await expect(child.exited).resolves.toBe("SIGKILL");
    const seen = child.lines.flatMap(({ line, type }) => (line === "event" ? [type] : []));
    // Consumes the replies that the killed process did not fetch, so that the next process does not receive them.
    while (setup.model.requests.length < 2) await askModel(setup);

    const host = await setup.open();
    const history = await readHistory(host, sessionID);
    expect(history.map(({ type }) => type).slice(0, dieAfter)).toEqual(seen);
    await expectConsistent(host);
    await expectGoesOn(setup, host);
  },
);

test("a kill during many prompts keeps the acknowledged ones", async () => {
  const setup = await setUp();
  const prompts = Array.from({ length: 2_000 }, (_, n) => ({ prompt: { text: `Prompt ${n}` }, resume: false }));
  const child = start(setup, { prompts: [prompt, ...prompts] });
  await child.printed("receipt", ({ receipt }) => receipt.admittedSeq >= 300);
  child.kill("SIGKILL");
  await child.exited;
  const acknowledged = child.lines.flatMap(({ line, receipt }) => (line === "receipt" ? [receipt] : []));

  const host = await setup.open();
  const history = await readHistory(host, sessionID);
  for (const { id, admittedSeq } of acknowledged) {
    expect(history[admittedSeq - 1]).toMatchObject({ type: "session.next.prompt.admitted", data: { messageID: id } });
  }
  await expectConsistent(host);
});

async function askModel({ model }: Setup) {
  const messages = [{ role: "user", content: "Anything" }];
  const body = JSON.stringify({ model: "m1", stream: true, messages });
  await (await fetch(`${model.url}/chat/completions`, { method: "POST", body })).text();
}

test("a session continues after many kills", async () => {
  const setup = await setUp();
  for (let life = 1; life <= 3; life += 1) {
    setup.model.reply({ deltas: ["a", "b"], gate: `life ${life}` });
    const child = start(setup, { prompts: [{ id: `msg_${life}`, prompt: { text: `Life ${life}` } }] });
    await child.printed("receipt");
    await setup.model.reached(`life ${life}`);
    child.kill("SIGKILL");
    await child.exited;
  }
  const host = await setup.open();
  await expectConsistent(host);
  await run(host, sessionID, "Go on");
  const users = (await readTranscript(host, sessionID)).filter((line) => line.startsWith("user"));
  expect(users).toEqual(["user: Life 1", "user: Life 2", "user: Life 3", "user: Go on"]);
  expect((await readTranscript(host, sessionID)).at(-1)).toBe(`assistant: ${UNSCRIPTED}`);
});
