// Invalid inputs of tools. Each is refused with the tool's name, has no effect, and the model continues.

import { existsSync } from "node:fs";
import path from "node:path";
import type { AssistantPartTool } from "../../index.js";
import type { ToolCall } from "../../testkit/reply.js";
import { readMessages, readTranscript, run, setUpSession, UNSCRIPTED } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

/** A valid input of each tool, with every key that the tool knows. */
const INPUTS: Record<string, Record<string, unknown>> = {
  apply_patch: { patchText: "*** Begin Patch\n*** Add File: made\n+made\n*** End Patch" },
  bash: { command: "touch made", workdir: ".", timeout: 1_000 },
  edit: { path: "a.txt", oldString: "a", newString: "b", replaceAll: true },
  glob: { pattern: "*", path: ".", limit: 1 },
  grep: { pattern: "a", path: ".", include: "*", limit: 1 },
  question: { questions: [{ question: "?", header: "?", options: [{ label: "a", description: "b" }] }] },
  read: { path: "a.txt", offset: 1, limit: 1 },
  skill: { name: "none" },
  task: { description: "Some work", prompt: "Work", agent: "general", sessionID: "ses_none" },
  todowrite: { todos: [{ content: "Some work", status: "pending", priority: "low" }] },
  webfetch: { url: "http://127.0.0.1:9/", format: "text", timeout: 1 },
  websearch: { query: "a", numResults: 1, livecrawl: "fallback", type: "auto", contextMaxCharacters: 1 },
  write: { path: "made", content: "made" },
};
/** The optional keys. */
const OPTIONAL: Record<string, readonly string[]> = {
  bash: ["workdir", "timeout"],
  edit: ["replaceAll"],
  glob: ["path", "limit"],
  grep: ["path", "include", "limit"],
  read: ["offset", "limit"],
  task: ["sessionID"],
  webfetch: ["format", "timeout"],
  websearch: ["numResults", "livecrawl", "type", "contextMaxCharacters"],
};

/** Values of every type except the type of this value. */
function wrongFor(value: unknown) {
  const values = [null, true, -1.5, "text", [], {}, [[[[[[[["deep"]]]]]]]]];
  const kind = (it: unknown) => (it === null ? "null" : Array.isArray(it) ? "array" : typeof it);
  const wrong = values.filter((it) => kind(it) !== kind(value));
  return Array.isArray(value) ? [...wrong, [null], [5], [{}], [[]]] : wrong;
}

/** The input without each key, and with each wrong type of a key. */
function wrongInputs(tool: string, input: Record<string, unknown>) {
  return Object.entries(input).flatMap(([key, value]) => {
    const isOptional = OPTIONAL[tool]?.includes(key);
    // `null` for an optional key is the same as no key.
    const wrong = wrongFor(value).filter((it) => it !== null || !isOptional);
    const others = wrong.map((it) => ({ ...input, [key]: it }));
    const { [key]: _, ...less } = input;
    return isOptional ? others : [less, ...others];
  });
}

async function call({ host, model, sessionID }: Started, calls: readonly ToolCall[], most = 40) {
  for (let at = 0; at < calls.length; at += most) model.reply({ tools: calls.slice(at, at + most) });
  model.reply({ text: "Done." });
  await run(host, sessionID, "Use your tools");
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.filter((part): part is AssistantPartTool => part.type === "tool");
}

test("refuses a missing key and a key of the wrong type, for each tool", async () => {
  const started = await setUpSession();
  started.setup.write("a.txt", "a");
  const calls = Object.entries(INPUTS).flatMap(([name, input]) =>
    wrongInputs(name, input).map((wrong) => ({ name, input: wrong })),
  );
  const tools = await call(started, calls, 200);
  const results = tools.map(({ name, state }, index) => {
    const message = state.status === "error" ? state.error.message : state.status;
    return `${name} ${JSON.stringify(calls[index]?.input)}: ${message.replace(/^(Invalid tool input: ).*$/s, "$1…")}`;
  });
  const expected = calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}: Invalid tool input: …`);
  expect(results).toEqual(expected);
  expect(existsSync(path.join(started.setup.directory, "made"))).toBe(false);
  // The model was offered all tools of this test.
  const [first] = started.model.requests;
  const shown = first?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
  expect(shown).toEqual(expect.arrayContaining(Object.keys(INPUTS).filter((name) => name !== "websearch")));
});

test("tools ignore unknown keys", async () => {
  const started = await setUpSession();
  started.setup.write("a.txt", "a");
  const more = { unknown: { deep: [1, [2, [3]]] }, "": null, "a\u0000b": "\ud83d\ude00", constructor: 1 };
  const inputs = {
    read: { path: "a.txt", ...more },
    glob: { pattern: "*", ...more },
    grep: { pattern: "a", ...more },
    write: { path: "b.txt", content: "b", ...more },
    bash: { command: "true", ...more },
    todowrite: { todos: [], ...more },
  };
  const tools = await call(
    started,
    Object.entries(inputs).map(([name, input]) => ({ name, input })),
  );
  expect(tools.map(({ name, state }) => [name, state.status])).toEqual(
    Object.keys(inputs).map((name) => [name, "completed"]),
  );
});

test("refuses names and texts of any size with a short message", async () => {
  const started = await setUpSession();
  const huge = "x".repeat(300_000);
  const calls = [
    { name: "read", input: { path: huge } },
    { name: "glob", input: { pattern: "*", path: huge } },
    { name: "grep", input: { pattern: "(".repeat(100_000) } },
    { name: "edit", input: { path: "a.txt", oldString: huge, newString: "" } },
    { name: "apply_patch", input: { patchText: huge } },
    { name: "skill", input: { name: huge } },
    { name: "task", input: { description: "a", prompt: "a", agent: huge } },
    { name: "webfetch", input: { url: huge } },
    { name: "question", input: { questions: huge } },
    { name: "read", input: { path: [huge] } },
  ];
  const tools = await call(started, calls);
  const results = tools.map(({ name, state }) => [
    name,
    state.status === "error" && state.error.message.length < 60_000,
  ]);
  expect(results).toEqual(calls.map(({ name }) => [name, true]));
});

test("a deeply nested input fails its call, and the session continues", async () => {
  const { host, model, sessionID } = await setUpSession();
  const deep = `{"path":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  model.reply({ tools: [{ name: "read", input: deep }] }, { text: "Sorry." });
  await run(host, sessionID, "Read");
  await run(host, sessionID, "Again");
  expect(await readTranscript(host, sessionID)).toEqual([
    "user: Read",
    "assistant: [read error]",
    "assistant: Sorry.",
    "user: Again",
    `assistant: ${UNSCRIPTED}`,
  ]);
});
