import { readHistory, readTranscript, readUntil, run, setUpSession, subscribe, types } from "./support";

test("keeps the text of an interrupted turn, which is settled when the call returns", async () => {
  const { host, model, sessionID } = await setUpSession();
  const live = await subscribe(host);
  model.reply({ deltas: ["Once upon", " a time."], gate: "middle" }, { text: "Sorry." });
  await host.sessions.prompt({ sessionID, prompt: { text: "Tell me a story" } });
  await readUntil(live, "session.next.text.delta");
  await host.sessions.interrupt({ sessionID });

  await expect(host.sessions.active()).resolves.toEqual({});
  const history = await readHistory(host, sessionID);
  expect(types(history).slice(2)).toEqual(["step.started", "text.started", "text.ended", "step.failed"]);
  expect(history.at(-2)?.data).toMatchObject({ text: "Once upon" });
  expect(history.at(-1)?.data).toMatchObject({
    error: { type: "unknown", message: "Provider turn interrupted", cause: { kind: "interrupted" } },
  });
  const request = await model.received(1);
  await request.closed;
  expect(request.aborted).toBe(true);

  await run(host, sessionID, "Go on");
  const { body } = await model.received(2);
  expect(body.messages.slice(1)).toEqual([
    { role: "user", content: "Tell me a story" },
    { role: "assistant", content: "Once upon" },
    { role: "user", content: "Go on" },
  ]);
  await live.return?.();
});

test("an interrupt before the first text leaves the prompt without an answer", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ text: "Never heard.", gate: "start" }, { text: "Hello." });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await model.reached("start");
  await host.sessions.interrupt({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi"]);
  await run(host, sessionID, "Are you there?");
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Hi",
    "user: Are you there?",
    "assistant: Hello.",
  ]);
});

test("reports an interrupted call to the model, and never runs it again", async () => {
  const { host, model, sessionID } = await setUpSession();
  const live = await subscribe(host);
  model.reply({ tools: [{ name: "read", input: { path: "a.txt" }, id: "call_a" }], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Read" } });
  await readUntil(live, "session.next.tool.input.started");
  await host.sessions.interrupt({ sessionID });
  await run(host, sessionID, "Go on");
  const { body } = await model.received(2);
  expect(body.messages.slice(2)).toEqual([
    { role: "assistant", content: null, tool_calls: [expect.objectContaining({ id: "call_a" })] },
    { role: "tool", tool_call_id: "call_a", content: expect.stringContaining("Tool execution interrupted") },
    { role: "user", content: "Go on" },
  ]);
  await live.return?.();
});

test("keeps pending prompts, which run at the next wake", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ deltas: ["a", "b"], gate: "middle" }, { text: "Both." }, { text: "Queued too." });
  await host.sessions.prompt({ sessionID, prompt: { text: "Begin" } });
  await model.reached("middle");
  const steered = await host.sessions.prompt({ sessionID, prompt: { text: "Steered" } });
  const queued = await host.sessions.prompt({ sessionID, prompt: { text: "Queued" }, delivery: "queue" });
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  for (const { id } of [steered, queued]) {
    await expect(host.sessions.message({ sessionID, messageID: id })).rejects.toMatchObject({
      _tag: "MessageNotFoundError",
    });
  }
  await run(host, sessionID, "Wake up");
  const transcript = await readTranscript(host, sessionID);
  expect(transcript.slice(2)).toEqual([
    "user: Steered",
    "user: Wake up",
    "assistant: Both.",
    "user: Queued",
    "assistant: Queued too.",
  ]);
});

test("does not change an idle session", async () => {
  const { host, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const before = await readHistory(host, sessionID);
  await host.sessions.interrupt({ sessionID });
  await expect(readHistory(host, sessionID)).resolves.toStrictEqual(before);
});

test("concurrent interrupts all return, and so does a wait for the turn", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ deltas: ["a", "b"], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Begin" } });
  await model.reached("middle");
  const waiting = host.sessions.wait({ sessionID });
  await Promise.all([1, 2, 3].map(() => host.sessions.interrupt({ sessionID })));
  await waiting;
  await expect(host.sessions.active()).resolves.toEqual({});
});
