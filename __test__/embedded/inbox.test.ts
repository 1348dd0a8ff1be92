import type { OpenCodeHost } from "../../index.js";
import { rejection } from "../client/support";
import { readHistory, readTranscript, readUntil, setUp, setUpSession, types } from "./support";

/** Admits a prompt that waits until a caller wakes the session. */
function leave(host: OpenCodeHost, sessionID: string, text: string, delivery: "steer" | "queue" = "steer") {
  return host.sessions.prompt({ sessionID, prompt: { text }, delivery, resume: false });
}

test("lists pending prompts with their receipts, in the order of admission", async () => {
  const { host, sessionID } = await setUpSession();
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([]);
  const receipts = [];
  for (const delivery of ["queue", "steer", "queue"] as const) {
    receipts.push(await leave(host, sessionID, delivery, delivery));
  }
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toStrictEqual(receipts);
});

test("does not list promoted prompts", async () => {
  const { model, host, sessionID } = await setUpSession();
  model.reply({ deltas: ["Once", " more."], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Now" } });
  await model.reached("middle");
  const queued = await host.sessions.prompt({ sessionID, prompt: { text: "Next" }, delivery: "queue" });
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([queued]);
  model.release("middle");
  await host.sessions.wait({ sessionID });
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([]);
});

test("a withdrawn prompt is never answered, and its id stays used", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  const { id: messageID } = await leave(host, sessionID, "Never mind");
  await leave(host, sessionID, "Hi");
  await expect(host.sessions.inbox.withdraw({ sessionID, messageID })).resolves.toBeUndefined();
  const retry = host.sessions.prompt({ sessionID, id: messageID, prompt: { text: "Never mind" } });
  await expect(retry).rejects.toMatchObject({ _tag: "ConflictError", resource: messageID });
  const again = await rejection(host.sessions.inbox.withdraw({ sessionID, messageID }));
  expect({ ...again }).toEqual({
    _tag: "InputNotFoundError",
    sessionID,
    messageID,
    message: expect.stringContaining(messageID),
  });

  // Also after the file is closed and opened again.
  await host.close();
  const reopened = await setup.open();
  model.reply({ text: "Hello." });
  await reopened.sessions.resume({ sessionID });
  await reopened.sessions.wait({ sessionID });
  await expect(readTranscript(reopened, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
});

test("steers a queued prompt into the running activity", async () => {
  const { model, host, sessionID } = await setUpSession();
  model.reply({ deltas: ["Once", " more."], gate: "middle" }, { text: "Yes?" });
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await host.sessions.prompt({ sessionID, prompt: { text: "Now" } });
  await readUntil(events, "session.next.text.started");
  await events.return?.();
  const queued = await host.sessions.prompt({ sessionID, prompt: { text: "Next" }, delivery: "queue" });
  const steered = await host.sessions.inbox.setDelivery({ sessionID, messageID: queued.id, delivery: "steer" });
  expect(steered).toStrictEqual({ ...queued, delivery: "steer" });
  model.release("middle");
  await host.sessions.wait({ sessionID });
  expect(types(await readHistory(host, sessionID))).toEqual([
    "prompt.admitted",
    "prompted",
    "step.started",
    "text.started",
    "prompt.admitted",
    "prompt.redelivered",
    "text.ended",
    "step.ended",
    "prompted",
    "step.started",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Now",
    "assistant: Once more.",
    "user: Next",
    "assistant: Yes?",
  ]);
});

test("changing the delivery of a pending prompt wakes the session", async () => {
  const { model, host, sessionID } = await setUpSession();
  const { id: messageID } = await leave(host, sessionID, "Hi", "queue");
  model.reply({ text: "Hello." });
  await host.sessions.inbox.setDelivery({ sessionID, messageID, delivery: "queue" });
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
});

test("a promoted prompt cannot be withdrawn or get another delivery", async () => {
  const { model, host, sessionID } = await setUpSession();
  model.reply({ text: "Hello." });
  const { id: messageID } = await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await host.sessions.wait({ sessionID });
  const conflict = { _tag: "ConflictError", resource: messageID };
  const { inbox } = host.sessions;
  await expect(inbox.withdraw({ sessionID, messageID })).rejects.toMatchObject(conflict);
  await expect(inbox.setDelivery({ sessionID, messageID, delivery: "queue" })).rejects.toMatchObject(conflict);
});

test("does not find an unknown prompt or one of another session", async () => {
  const { host, sessionID } = await setUpSession();
  const other = await host.sessions.create();
  const { id: foreign } = await leave(host, other.id, "Hi");
  for (const messageID of ["msg_nobody", foreign]) {
    const missing = { _tag: "InputNotFoundError", sessionID, messageID };
    await expect(host.sessions.inbox.withdraw({ sessionID, messageID })).rejects.toMatchObject(missing);
    const changed = host.sessions.inbox.setDelivery({ sessionID, messageID, delivery: "queue" });
    await expect(changed).rejects.toMatchObject(missing);
  }
  await expect(host.sessions.inbox.list({ sessionID: other.id })).resolves.toHaveLength(1);
  const nowhere = { _tag: "SessionNotFoundError", sessionID: "ses_nowhere" };
  await expect(host.sessions.inbox.list({ sessionID: "ses_nowhere" })).rejects.toMatchObject(nowhere);
});

test("refuses a prompt if the inbox is full, and accepts the same prompt when there is room", async () => {
  const setup = await setUp();
  const host = await setup.open({ limits: { inbox: 2 } });
  const { id: sessionID } = await host.sessions.create();
  const { id: messageID } = await leave(host, sessionID, "One");
  await leave(host, sessionID, "Two");
  const third = { sessionID, id: "msg_third", prompt: { text: "Three" }, resume: false };
  const full = await rejection(host.sessions.prompt(third));
  expect({ ...full }).toEqual({
    _tag: "SessionBacklogError",
    sessionID,
    pending: 2,
    limit: 2,
    retryable: true,
    message: expect.any(String),
  });
  await host.sessions.inbox.withdraw({ sessionID, messageID });
  await expect(host.sessions.prompt(third)).resolves.toMatchObject({ id: "msg_third" });
});
