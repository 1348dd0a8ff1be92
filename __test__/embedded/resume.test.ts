import { Child } from "../lifecycle/child";
import { readTranscript, readUntil, run, setUp, setUpSession, subscribe } from "./support";

test("a session whose turn failed continues without a prompt", async () => {
  const { model, host, sessionID } = await setUpSession();
  model.reply({ status: 401, body: { error: { message: "No key" } } }, { text: "Hello." });
  await run(host, sessionID, "Hi");
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: "]);
  // The turn is settled, so it is not listed as interrupted. A caller may still resume the session.
  await expect(host.sessions.interrupted()).resolves.toEqual([]);
  await expect(host.sessions.resume({ sessionID })).resolves.toBeUndefined();
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: ", "assistant: Hello."]);
});

test("answers pending prompts", async () => {
  const { model, host, sessionID } = await setUpSession();
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" }, resume: false });
  model.reply({ text: "Hello." });
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
});

test("resuming a running session joins its drain", async () => {
  const { model, host, sessionID } = await setUpSession();
  model.reply({ deltas: ["Once", " more."], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await model.reached("middle");
  await host.sessions.resume({ sessionID });
  model.release("middle");
  await host.sessions.wait({ sessionID });
  expect(model.requests).toHaveLength(1);
});

test("resuming in reaction to a failed step makes another turn", async () => {
  const { model, host, sessionID } = await setUpSession();
  const rounds = 20;
  const failure = { status: 401, body: { error: { message: "No key" } } };
  model.reply(...Array.from({ length: rounds }, () => failure), { text: "Hello." });
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: "Hi" });
  for (let round = 1; round <= rounds; round += 1) {
    await readUntil(live, "session.next.step.failed");
    await host.sessions.resume({ sessionID });
    await model.received(round + 1);
  }
  await host.sessions.wait({ sessionID });
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Hello.");
});

test("resuming in reaction to session.error makes another attempt", async () => {
  const { model, host } = await setUpSession();
  const { id: sessionID } = await host.sessions.create({ model: { providerID: "mock", id: "nope" } });
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: "Hi" });
  for (let round = 1; round <= 20; round += 1) {
    const [error] = (await readUntil(live, "session.error")).slice(-1);
    expect(error).toMatchObject({ data: { sessionID, error: { data: { message: expect.stringContaining("nope") } } } });
    await host.sessions.resume({ sessionID });
  }
  await host.sessions.wait({ sessionID });
  expect(model.requests).toEqual([]);
});

test("resuming in reaction to a pause makes another turn", async () => {
  const { model, host } = await setUpSession();
  const { id: sessionID } = await host.sessions.create({ budget: { turns: 1 } });
  const rounds = 20;
  const look = { tools: [{ name: "glob", input: { pattern: "*.ts" } }] };
  model.reply(...Array.from({ length: rounds }, () => look), { text: "None." });
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: "Look" });
  for (let turns = 2; turns <= rounds + 1; turns += 1) {
    await readUntil(live, "session.next.paused");
    await host.sessions.update({ sessionID, budget: { turns } });
    await host.sessions.resume({ sessionID });
  }
  await host.sessions.wait({ sessionID });
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: None.");
});

test("refuses an unknown session", async () => {
  const { host } = await setUpSession();
  const missing = { _tag: "SessionNotFoundError", sessionID: "ses_nowhere" };
  await expect(host.sessions.resume({ sessionID: "ses_nowhere" })).rejects.toMatchObject(missing);
});

test("lists and resumes the session that an ended process has left open", async () => {
  const setup = await setUp();
  setup.model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  const sessionID = "ses_victim";
  const prompts = [{ id: "msg_victim", prompt: { text: "Hi" } }];
  const child = new Child("victim", { options: setup.options(), prompts });
  await child.printed("event", ({ type }) => type === "session.next.text.started");
  child.kill("SIGKILL");
  await expect(child.exited).resolves.toBe("SIGKILL");

  const host = await setup.open();
  const { items } = await host.sessions.messages({ sessionID });
  const answer = items[0]!;
  expect(answer.type).toBe("assistant");
  await expect(host.sessions.interrupted()).resolves.toStrictEqual([
    { sessionID, state: "step-open", messageID: answer.id, seq: 3, time: answer.time.created },
  ]);
  setup.model.reply({ text: "Where was I?" });
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  await expect(host.sessions.interrupted()).resolves.toEqual([]);
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Where was I?");
});
