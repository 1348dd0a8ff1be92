// A subscriber selects events, and follows messages and parts without a transcript of its own.

import type { EventsSubscribeInput, OpenCodeClient, OpenCodeEvent, SessionMessage } from "../../index.js";
import { collect, rejection } from "../client/support";
import { readUntil, run, setUp, setUpSession } from "./support";

async function select(host: OpenCodeClient, input: EventsSubscribeInput) {
  const live = host.events.subscribe(input)[Symbol.asyncIterator]();
  await readUntil(live, "server.connected");
  return live;
}

/** The messages that announcements alone describe. */
function follow(messages: Map<string, SessionMessage>, event: OpenCodeEvent) {
  const contentOf = (id: string) => {
    const message = messages.get(id);
    if (message?.type !== "assistant") throw new Error(`No assistant message ${id}`);
    return message.content as (typeof message.content)[number][];
  };
  if (event.type === "message.updated") {
    const { info } = event.data;
    const known = messages.get(info.id);
    const content = known?.type === "assistant" ? known.content : [];
    messages.set(info.id, info.type === "assistant" ? { ...info, content } : info);
  } else if (event.type === "message.removed") {
    messages.delete(event.data.messageID);
  } else if (event.type === "message.part.updated") {
    contentOf(event.data.messageID)[event.data.index] = event.data.part;
  } else if (event.type === "message.part.removed") {
    expect(contentOf(event.data.messageID).pop()?.id).toBe(event.data.partID);
  }
}

async function readMessages(host: OpenCodeClient, sessionID: string) {
  return (await collect(host.sessions.messages({ sessionID, order: "asc" }))) as SessionMessage[];
}

test("message events describe the messages, also after a committed revert", async () => {
  const { host, model, sessionID } = await setUpSession();
  const live = await select(host, { types: ["message.*", "session.idle", "session.next.revert.committed"], sessionID });
  const messages = new Map<string, SessionMessage>();
  model.reply(
    { reasoning: "Hm.", deltas: ["A", "b"], tools: [{ name: "read", input: { path: "." }, id: "call_a" }] },
    { text: "Done." },
    { text: "More." },
  );
  for (const text of ["Hi", "Again"]) {
    await run(host, sessionID, text);
    (await readUntil(live, "session.idle")).forEach((event) => follow(messages, event));
  }
  const all = await readMessages(host, sessionID);
  expect([...messages.values()]).toEqual(all);
  const boundary = all.find((message) => message.type === "assistant");
  if (boundary?.type !== "assistant") throw new Error("There is an answer");
  await host.sessions.revert.stage({ sessionID, messageID: boundary.id, partID: "text-0", exact: true });
  await host.sessions.revert.commit({ sessionID });
  const events = await readUntil(live, "session.next.revert.committed");
  const removed = await readUntil(live, "session.idle");
  [...events, ...removed].forEach((event) => follow(messages, event));
  expect(removed.map(({ type }) => type)).toContain("message.part.removed");
  expect(removed.map(({ type }) => type)).toContain("message.removed");
  expect([...messages.values()]).toEqual(await readMessages(host, sessionID));
});

test("an open part is sent again with what it gained", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  const { directory } = setup;
  const live = await select(host, { types: ["message.part.updated", "message.updated", "session.idle"], sessionID });
  const deltas = Array.from({ length: 400 }, (_, index) => `word ${index} `);
  const whole = deltas.join("");
  model.reply({ reasoning: "Hm.", deltas, tools: [{ name: "read", input: { path: "." } }] }, { text: "Done." });
  await run(host, sessionID, "Hi");
  const events = await readUntil(live, "session.idle");
  const updates = events.flatMap((event) => (event.type === "message.part.updated" ? [event.data] : []));
  const first = updates[0]?.messageID;
  const texts = updates.filter(({ messageID, part }) => messageID === first && part.type === "text");
  const open = texts.filter(({ delta }) => delta !== undefined);
  expect(open).not.toEqual([]);
  // Each one continues the one before, and costs little more than the answer.
  let sum = "";
  for (const { part, delta, partTime } of open) {
    sum += delta;
    expect(part).toMatchObject({ text: sum });
    expect(partTime).toEqual({ created: texts[0]?.time });
  }
  expect(whole.startsWith(sum)).toBe(true);
  expect(texts.at(-1)).toMatchObject({ part: { text: whole }, partTime: { completed: expect.any(Number) } });
  expect(texts.at(-1)?.delta).toBeUndefined();
  const titles = updates.flatMap(({ title }) => title ?? []);
  expect(new Set(titles)).toEqual(new Set(["."]));
  const answers = events.flatMap((event) =>
    event.type === "message.updated" && event.data.info.type === "assistant" ? [event.data] : [],
  );
  expect(answers[0]).toMatchObject({ mode: "build", path: { cwd: directory, root: "/" } });
});

test("a secret that arrives in pieces is removed from the open part, which has no delta then", async () => {
  const setup = await setUp();
  const config = setup.model.config();
  config.provider.mock.options.apiKey = "sk-Secret-0123456789abcdef";
  const host = await setup.open({ config });
  const { id: sessionID } = await host.sessions.create();
  const live = await select(host, { types: ["message.part.updated", "session.idle"], sessionID });
  setup.model.reply({ deltas: ["key: sk-Secret", "-0123456789", "abcdef and", " more"], delayMs: 20 });
  await run(host, sessionID, "Hi");
  const events = await readUntil(live, "session.idle");
  let text = "";
  for (const event of events) {
    if (event.type !== "message.part.updated" || event.data.part.type !== "text") continue;
    const { delta, part } = event.data;
    if (delta !== undefined) expect(part.text).toBe(text + delta);
    text = part.text;
  }
  expect(text).toBe("key: <redacted> and more");
});

test("the structured output of an answer is announced", async () => {
  const { host, model, sessionID } = await setUpSession();
  const live = await select(host, { types: ["message.updated", "session.idle"], sessionID });
  model.reply({ text: '{"ok":true}' });
  const schema = { type: "object" as const, properties: { ok: { type: "boolean" } }, required: ["ok"] };
  await host.sessions.run({ sessionID, prompt: "Is it?", output: { schema } }).result;
  const events = await readUntil(live, "session.idle");
  const last = events.findLast(({ type }) => type === "message.updated");
  expect(last).toMatchObject({ data: { info: { output: { ok: true }, finish: "stop" } } });
});

test("a subscriber without types receives no derived events, and one with a session only that session", async () => {
  const { host, model, sessionID } = await setUpSession();
  const other = await host.sessions.create();
  const whole = await select(host, {});
  const one = await select(host, { sessionID });
  const derived = await select(host, { types: ["*"] });
  model.reply({ text: "One." }, { text: "Two." });
  await run(host, other.id, "Other");
  await run(host, sessionID, "Hi");
  await host.close();
  const [all, own, every] = await Promise.all([whole, one, derived].map((live) => readUntil(live, "global.disposed")));
  expect(all?.filter(({ type }) => type.startsWith("message."))).toEqual([]);
  expect(every?.filter(({ type }) => type === "message.updated")).not.toEqual([]);
  const sessions = own?.flatMap(({ data }) => ("sessionID" in data ? [data.sessionID] : []));
  expect(new Set(sessions)).toEqual(new Set([sessionID]));
});

test.each([
  [{ types: ["sesion.idle"] }, 'No event has the type "sesion.idle". Did you mean session.idle?'],
  [{ types: ["lsp.updated"] }, 'No event has the type "lsp.updated".'],
  [{ sessionID: "foo" }, 'Expected a string starting with "ses"'],
  [{ type: "session.idle" }, "Unknown member type of events.subscribe"],
  [{ types: 5 }, 'No event has the type "5"'],
])("refuses the selection %j", async (input, message) => {
  const { host } = await setUpSession();
  const error = await rejection(collect(host.events.subscribe(input as EventsSubscribeInput)));
  expect(error).toMatchObject({ _tag: "InvalidRequestError", message: expect.stringContaining(message) });
});
