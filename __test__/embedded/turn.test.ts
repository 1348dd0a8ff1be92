import { readHistory, readMessages, readTranscript, run, setUpSession, types, UNSCRIPTED } from "./support";

test("answers a prompt, and every view shows the same", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ reasoning: "Hm.", deltas: ["Hel", "lo"], usage: { input: 100, output: 20, cached: 60, reasoning: 5 } });
  const receipt = await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  expect(receipt).toStrictEqual({
    admittedSeq: 1,
    id: expect.stringMatching(/^msg_\w+$/),
    sessionID,
    prompt: { text: "Hi" },
    delivery: "steer",
    timeCreated: expect.any(Number),
  });
  await host.sessions.wait({ sessionID });

  const messages = await readMessages(host, sessionID);
  const span = { created: expect.any(Number), completed: expect.any(Number) };
  const tokens = { input: 40, output: 15, reasoning: 5, cache: { read: 60, write: 0 } };
  expect(messages).toStrictEqual([
    { id: receipt.id, type: "user", text: "Hi", time: { created: receipt.timeCreated } },
    {
      id: expect.stringMatching(/^msg_\w+$/),
      type: "assistant",
      metadata: { prefix: expect.objectContaining({ reused: 0, reason: "first" }) },
      agent: "build",
      model: { providerID: "mock", id: "m1" },
      time: span,
      content: [
        { type: "reasoning", id: "reasoning-0", text: "Hm.", time: span },
        { type: "text", id: "text-0", text: "Hello" },
      ],
      finish: "stop",
      cost: 0,
      tokens,
    },
  ]);
  await expect(host.sessions.context({ sessionID })).resolves.toStrictEqual(messages);
  for (const message of messages) {
    await expect(host.sessions.message({ sessionID, messageID: message.id })).resolves.toStrictEqual(message);
  }
  await expect(host.sessions.get({ sessionID })).resolves.toMatchObject({ cost: 0, tokens });

  const events = await readHistory(host, sessionID);
  expect(types(events)).toEqual([
    "prompt.admitted",
    "prompted",
    "step.started",
    "reasoning.started",
    "reasoning.ended",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
  expect(events.map(({ durable }) => durable.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(new Set(events.map(({ durable, data }) => `${durable.aggregateID} ${data.sessionID}`))).toEqual(
    new Set([`${sessionID} ${sessionID}`]),
  );
});

test("a request contains everything that the provider needs", async () => {
  const { host, model, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi");
  const { headers, body } = await model.received(1);
  expect(headers).toMatchObject({
    authorization: "Bearer secret",
    "content-type": "application/json",
    "x-session-affinity": sessionID,
  });
  expect(body).toMatchObject({ model: "m1", stream: true, stream_options: { include_usage: true } });
  expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user"]);
  expect(body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toContain("read");
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", `assistant: ${UNSCRIPTED}`]);
});

test("each request begins with the bytes of the one before", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("a.txt", "A");
  model.reply({ tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "A." }, { text: "Again." });
  await run(host, sessionID, "What is in a.txt?");
  await run(host, sessionID, "Are you sure? 🙂");
  const sent = model.requests.map(({ text }) => {
    const end = text.indexOf('],"tools":');
    return { messages: text.slice(0, end), rest: text.slice(end) };
  });
  expect(sent).toHaveLength(3);
  for (const [index, { messages, rest }] of sent.entries()) {
    expect(messages.startsWith(sent[index - 1]?.messages ?? "")).toBe(true);
    expect(rest).toBe(sent[0]!.rest);
  }
});

test("a session is active from its prompt to the end of its answer", async () => {
  const { host, model, sessionID } = await setUpSession();
  await expect(host.sessions.active()).resolves.toStrictEqual({});
  model.reply({ deltas: ["One", "Two"], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Count" } });
  await model.reached("middle");
  await expect(host.sessions.active()).resolves.toStrictEqual({ [sessionID]: { type: "running" } });
  model.release("middle");
  await host.sessions.wait({ sessionID });
  await expect(host.sessions.active()).resolves.toStrictEqual({});
});

test("a prompt without a wake waits for the next one", async () => {
  const { host, model, sessionID } = await setUpSession();
  const { id } = await run(host, sessionID, "Later", { resume: false });
  await expect(readMessages(host, sessionID)).resolves.toEqual([]);
  await expect(host.sessions.message({ sessionID, messageID: id })).rejects.toMatchObject({
    _tag: "MessageNotFoundError",
  });
  expect(model.requests).toHaveLength(0);
  await run(host, sessionID, "Now");
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Later",
    "user: Now",
    `assistant: ${UNSCRIPTED}`,
  ]);
});

test("a steer joins the running activity, and a queued prompt starts a new activity", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("a.txt", "A");
  model.reply(
    { deltas: ["Let me", " see."], tools: [{ name: "read", input: { path: "a.txt" } }], gate: "middle" },
    { text: "Both." },
    { text: "Last." },
  );
  await host.sessions.prompt({ sessionID, prompt: { text: "Begin" } });
  await model.reached("middle");
  await host.sessions.prompt({ sessionID, prompt: { text: "Queued" }, delivery: "queue" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Steered" }, delivery: "steer" });
  model.release("middle");
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Begin",
    "assistant: Let me see.[read completed]",
    "user: Steered",
    "assistant: Both.",
    "user: Queued",
    "assistant: Last.",
  ]);
});

test("sessions run in parallel", async () => {
  const { host, model, sessionID } = await setUpSession();
  const other = await host.sessions.create();
  model.reply({ deltas: ["Slow", "."], gate: "slow" }, { text: "Quick." });
  await host.sessions.prompt({ sessionID, prompt: { text: "One" } });
  await model.reached("slow");
  await run(host, other.id, "Two");
  await expect(readTranscript(host, other.id)).resolves.toEqual(["user: Two", "assistant: Quick."]);
  await expect(host.sessions.active()).resolves.toEqual({ [sessionID]: { type: "running" } });
  model.release("slow");
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: One", "assistant: Slow."]);
});
