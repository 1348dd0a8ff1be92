import { readHistory, readTranscript, run, setUp } from "./support";

// The scripted model records requests that a provider would refuse. Every test checks that there are none.

const PROTOCOLS = ["@ai-sdk/openai-compatible", "@ai-sdk/anthropic", "@ai-sdk/openai"];

async function open(npm: string) {
  const setup = await setUp();
  const host = await setup.open({ config: setup.model.config({}, npm) });
  const { id: sessionID } = await host.sessions.create();
  return { model: setup.model, host, sessionID };
}

test.each(PROTOCOLS)("%s: resuming a finished answer sends a request that ends with a user message", async (npm) => {
  const { model, host, sessionID } = await open(npm);
  model.reply({ text: "One." }, { text: "Two." }, { text: "Three." });
  await run(host, sessionID, "Go");
  for (let n = 0; n < 2; n += 1) {
    await host.sessions.resume({ sessionID });
    await host.sessions.wait({ sessionID });
  }
  expect(model.requests).toHaveLength(3);
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Go",
    "assistant: One.",
    "assistant: Two.",
    "assistant: Three.",
  ]);
});

test.each(PROTOCOLS)("%s: resuming a cut answer sends a request that ends with a user message", async (npm) => {
  const { model, host, sessionID } = await open(npm);
  model.reply({ deltas: ["Once", " upon"], cut: true }, { text: "Again." });
  await run(host, sessionID, "Go");
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toContain("assistant: Again.");
});

test.each(PROTOCOLS)("%s: a turn that has only a thought keeps later requests valid", async (npm) => {
  const { model, host, sessionID } = await open(npm);
  model.reply({ reasoning: "Hm." }, { text: "Well." });
  await run(host, sessionID, "Go");
  await run(host, sessionID, "And?");
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Go",
    "assistant: Hm.",
    "user: And?",
    "assistant: Well.",
  ]);
});

test.each(PROTOCOLS)("%s: sends a valid name for a call with an invalid one, and stores the original", async (npm) => {
  const { model, host, sessionID } = await open(npm);
  const names = ["functions.bash", "bell\u0007", "x".repeat(70), "\u00fcber"];
  model.reply({ tools: names.map((name) => ({ name, input: {} })) }, { text: "Sorry." });
  await run(host, sessionID, "Go");
  const { items } = await host.sessions.messages({ sessionID });
  const called = items.flatMap((message) =>
    message.type === "assistant" ? message.content.flatMap((it) => (it.type === "tool" ? [it.name] : [])) : [],
  );
  expect(called).toEqual(names);
});

test.each(PROTOCOLS)("%s: arguments of any depth leave the step with an outcome", async (npm) => {
  for (const depth of [99, 126, 127, 500]) {
    const { model, host, sessionID } = await open(npm);
    const input = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    model.reply({ tools: [{ name: "read", input }] }, { text: "Done." });
    await run(host, sessionID, "Go");
    const types = (await readHistory(host, sessionID)).map(({ type }) => type);
    const count = (type: string) => types.filter((it) => it === type).length;
    const outcomes = count("session.next.step.ended") + count("session.next.step.failed");
    expect(outcomes).toBe(count("session.next.step.started"));
    expect(outcomes).toBeGreaterThan(0);
    await expect(host.sessions.interrupted()).resolves.toEqual([]);
  }
});
