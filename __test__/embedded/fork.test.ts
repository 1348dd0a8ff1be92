// Forks: copies of sessions that continue on their own.

import { isMessageNotFoundError, isSessionBusyError } from "../../index.js";
import { rejection } from "../client/support";
import { readTranscript, run, setUpSession } from "./support";

test("a fork continues its source, and both go their own way", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  model.reply({ text: "One." }, { text: "Two." }, { text: "Three." }, { text: "Four." });
  await run(host, sessionID, "First");
  await run(host, sessionID, "Second");
  const source = await host.sessions.get({ sessionID });
  const fork = await host.sessions.fork({ sessionID });
  expect(fork).toMatchObject({
    parentID: sessionID,
    title: `${source.title} (fork #1)`,
    location: source.location,
    cost: 0,
  });
  await run(host, fork.id, "Third");
  const [second, third] = [(await model.received(2)).body, (await model.received(3)).body];
  // The request begins with that of the source, so the provider serves it from its cache.
  expect(third.messages.slice(0, second.messages.length)).toEqual(second.messages);
  const [answer] = (await host.sessions.messages({ sessionID: fork.id, limit: 1 })).items;
  const prefix = answer?.type === "assistant" ? answer.metadata?.["prefix"] : undefined;
  expect(prefix).toMatchObject({ reused: expect.any(Number) });
  expect(prefix).not.toHaveProperty("reason");
  await run(host, sessionID, "Third, too");
  await host.close();
  const again = await setup.open();
  await expect(readTranscript(again, fork.id)).resolves.toEqual([
    "user: First",
    "assistant: One.",
    "user: Second",
    "assistant: Two.",
    "user: Third",
    "assistant: Three.",
  ]);
  expect((await readTranscript(again, sessionID)).slice(-2)).toEqual(["user: Third, too", "assistant: Four."]);
});

test("a fork ends before a message", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ text: "One." }, { text: "Two." }, { text: "Other." });
  await run(host, sessionID, "First");
  await run(host, sessionID, "Second");
  const messages = await host.sessions.context({ sessionID });
  const second = messages.filter(({ type }) => type === "user")[1];
  const fork = await host.sessions.fork({ sessionID, messageID: second?.id });
  await run(host, fork.id, "Instead");
  await expect(readTranscript(host, fork.id)).resolves.toEqual([
    "user: First",
    "assistant: One.",
    "user: Instead",
    "assistant: Other.",
  ]);
});

test("a session that works and an unknown boundary are refused", async () => {
  const { host, model, sessionID } = await setUpSession();
  const unknown = await rejection(host.sessions.fork({ sessionID, messageID: "msg_none" }));
  expect(isMessageNotFoundError(unknown) && unknown.messageID).toBe("msg_none");
  model.reply({ text: "Hello.", gate: "held" });
  await host.sessions.prompt({ sessionID, prompt: "Hi" });
  await model.reached("held");
  const busy = await rejection(host.sessions.fork({ sessionID }));
  expect(isSessionBusyError(busy) && busy.sessionID).toBe(sessionID);
  model.release("held");
  await host.sessions.wait({ sessionID });
});
