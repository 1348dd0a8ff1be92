import { createHash } from "node:crypto";
import { isSessionNotFoundError } from "../../index.js";
import type { OpenCodeHost } from "../../index.js";
import type { Model, Setup } from "./support";
import { readHistory, readMessages, run, setUpSession } from "./support";

const CLEARED = "[Old tool result content cleared]";

/** The report of a step about its request. */
interface Prefix {
  sha256: string;
  bytes: number;
  reused: number;
  reason?: string;
}

/** The reports of all steps, oldest first. */
async function readPrefixes(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  return messages.flatMap((message) => (message.type === "assistant" ? [message.metadata?.prefix as Prefix] : []));
}

/** The messages of the nth request as bytes, without the opening bracket. */
async function readConversation(model: Model, number: number) {
  const { text } = await model.received(number);
  const marker = '"messages":[';
  return Buffer.from(text.slice(text.indexOf(marker) + marker.length));
}

const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** A turn that reads eight files of about 10,000 tokens, and two more turns. */
async function flood(setup: Setup, host: OpenCodeHost, sessionID: string) {
  const names = Array.from({ length: 8 }, (_, number) => `big${number}.txt`);
  for (const name of names) setup.write(name, `${"x".repeat(99)}\n`.repeat(400));
  const tools = names.map((name, number) => ({ name: "read", input: { path: name }, id: `call_${number}` }));
  setup.model.reply({ tools });
  await run(host, sessionID, "Look");
  for (const text of ["One", "Two"]) await run(host, sessionID, text);
}

test("shows the request of the next turn exactly as it is sent", async () => {
  const { host, model, sessionID } = await setUpSession();
  await run(host, sessionID, "One");
  await host.sessions.prompt({ sessionID, prompt: { text: "Two" }, resume: false });
  const before = await readHistory(host, sessionID);
  const view = await host.sessions.request({ sessionID });
  expect(await readHistory(host, sessionID)).toEqual(before);
  expect(model.requests).toHaveLength(1);
  expect(view.request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  const { body } = await model.received(2);
  expect(body.messages[0].content).toBe(view.request.system.join("\n"));
  expect(view.tools).toEqual(body.tools.map((tool: { function: { name: string } }) => tool.function.name));
  expect(view.prefix.sha256).toBe(hash((await readConversation(model, 2)).subarray(0, view.prefix.bytes)));
  expect((await readPrefixes(host, sessionID))[1]).toMatchObject(view.prefix);
});

test("reports an unknown session", async () => {
  const { host } = await setUpSession();
  const refused = await host.sessions.request({ sessionID: "ses_missing" }).catch((error: unknown) => error);
  expect(isSessionNotFoundError(refused)).toBe(true);
});

test("every step records the length of the prefix that it shares with the request before, across processes", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  await run(host, sessionID, "One");
  await run(host, sessionID, "Two");
  await host.close();
  const later = await setup.open();
  await run(later, sessionID, "Three");
  const prefixes = await readPrefixes(later, sessionID);
  expect(prefixes.map(({ reason }) => reason)).toEqual(["first", undefined, undefined]);
  const lengths = [0, ...prefixes.map(({ bytes }) => bytes)];
  expect(prefixes.map(({ reused }) => reused)).toEqual(lengths.slice(0, 3));
  for (const [number, { sha256, bytes }] of prefixes.entries()) {
    const conversation = await readConversation(model, number + 1);
    expect(sha256).toBe(hash(conversation.subarray(0, bytes)));
  }
  const ended = (await readHistory(later, sessionID)).filter(({ type }) => type === "session.next.step.ended");
  expect(ended.map(({ metadata }) => metadata?.prefix)).toEqual(prefixes);
});

test("old output is pruned and stays readable, and the step names pruning as the reason for its new prefix", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  await flood(setup, host, sessionID);
  expect((await readHistory(host, sessionID)).at(-1)?.type).toBe("session.next.pruned");
  await run(host, sessionID, "Three");
  const { body } = await model.received(5);
  const results = body.messages.filter(({ role }: { role: string }) => role === "tool");
  const cleared = results.map(({ content }: { content: string }) => content === CLEARED);
  expect(cleared).toEqual([true, true, true, true, true, false, false, false]);
  const reasons = (await readPrefixes(host, sessionID)).map(({ reason }) => reason);
  expect(reasons).toEqual(["first", undefined, undefined, undefined, "pruning"]);
  const parts = (await readMessages(host, sessionID)).flatMap((it) => (it.type === "assistant" ? it.content : []));
  const tools = parts.flatMap((part) => (part.type === "tool" ? [part] : []));
  expect(tools.map(({ time }) => time.pruned !== undefined)).toEqual(cleared);
  expect(tools.every(({ state }) => JSON.stringify(state).length > 40_000)).toBe(true);
});

test("the environment switches pruning off", async () => {
  const { setup, host, sessionID } = await setUpSession({ env: { OPENCODE_DISABLE_PRUNE: "1" } });
  await flood(setup, host, sessionID);
  const events = await readHistory(host, sessionID);
  expect(events.filter(({ type }) => type === "session.next.pruned")).toEqual([]);
});

test("returns the state of the context of a Location", async () => {
  const { setup, host, sessionID } = await setUpSession();
  setup.write("AGENTS.md", "Be brief.");
  await run(host, sessionID, "One");
  setup.write("AGENTS.md", "Be kind.");
  await run(host, sessionID, "Two");
  const { location, data } = await host.debug.context();
  expect(location.directory).toBe(setup.directory);
  expect(data).toMatchObject({ contention: 0, unavailable: [], baselines: { count: 1 }, updates: { count: 1 } });
  expect(data.observations.count).toBe(2);
  expect(data.updates.totalBytes).toBeGreaterThan("Be kind.".length);
});
