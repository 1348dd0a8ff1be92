import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { AssistantPartTool, OpenCodeHost } from "../../index.js";
import type { Reply } from "../../testkit/reply.js";
import { readHistory, readMessages, readTranscript, run, setUpSession, types } from "./support";

async function readTools(host: OpenCodeHost, sessionID: string): Promise<AssistantPartTool[]> {
  const messages = await readMessages(host, sessionID);
  return messages.flatMap((message) => (message.type === "assistant" ? message.content : [])).filter(isTool);
}

function isTool(part: { type: string }): part is AssistantPartTool {
  return part.type === "tool";
}

/** The results that the model received for the calls of its first answer. */
async function runTools(started: Awaited<ReturnType<typeof setUpSession>>, ...tools: NonNullable<Reply["tools"]>) {
  started.model.reply({ tools }, { text: "Done." });
  await run(started.host, started.sessionID, "Use your tools");
  const { body } = await started.model.received(2);
  const results: { role: string; content: string; tool_call_id: string }[] = body.messages;
  return results.filter(({ role }) => role === "tool");
}

/** Every file of a directory with its text. */
function readFiles(directory: string) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((file) => [path.relative(directory, file), readFileSync(file, "utf8")]));
}

test("reads a file, and the model continues with its content", async () => {
  const started = await setUpSession();
  const { setup, host, sessionID } = started;
  setup.write("notes.txt", "Remember the milk.\n");
  const [result] = await runTools(started, { name: "read", input: { path: "notes.txt" }, id: "call_a" });
  expect(result).toMatchObject({ tool_call_id: "call_a", content: expect.stringContaining("Remember the milk.") });
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Use your tools",
    "assistant: [read completed]",
    "assistant: Done.",
  ]);
  const [tool] = await readTools(host, sessionID);
  expect(tool).toMatchObject({
    id: "call_a",
    name: "read",
    state: { status: "completed", input: { path: "notes.txt" }, structured: { content: "Remember the milk.\n" } },
    time: { created: expect.any(Number), ran: expect.any(Number), completed: expect.any(Number) },
  });
  expect(types(await readHistory(host, sessionID))).toEqual([
    "prompt.admitted",
    "prompted",
    "step.started",
    "tool.input.started",
    "tool.input.ended",
    "tool.called",
    "tool.success",
    "step.ended",
    "step.started",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
});

test("finds files and lines", async () => {
  const started = await setUpSession();
  const { setup, host, sessionID } = started;
  setup.write("a.ts", "const a = 1;\n");
  setup.write("b.ts", "let b;\nconst c = 2;\n");
  const results = await runTools(
    started,
    { name: "glob", input: { pattern: "*.ts" }, id: "call_glob" },
    { name: "grep", input: { pattern: "const \\w", include: "b.*" }, id: "call_grep" },
  );
  const [a, b] = ["a.ts", "b.ts"].map((name) => `${setup.directory}/${name}`);
  expect(results.map((result) => result.content)).toEqual([
    `${a}\n${b}`,
    `Found 1 matches\n${b}:\n  Line 2: const c = 2;\n`,
  ]);
  const [glob, grep] = await readTools(host, sessionID);
  expect(glob?.state).toMatchObject({
    status: "completed",
    structured: {
      value: [
        { path: "a.ts", type: "file" },
        { path: "b.ts", type: "file" },
      ],
    },
  });
  expect(grep?.state).toMatchObject({
    status: "completed",
    structured: {
      value: [
        {
          entry: { path: "b.ts", type: "file" },
          line: 2,
          offset: 7,
          text: "const c = 2;\n",
          submatches: [{ text: "const c", start: 0, end: 7 }],
        },
      ],
    },
  });
});

test("writes, edits and patches a file in sequence", async () => {
  const started = await setUpSession();
  const { setup, host, model, sessionID } = started;
  const patchText = [
    "*** Begin Patch",
    "*** Update File: src/new.txt",
    "@@",
    " two",
    "+three",
    "*** Add File: added.txt",
    "+added",
    "*** Delete File: old.txt",
    "*** End Patch",
  ].join("\n");
  setup.write("old.txt", "old\n");
  model.reply(
    { tools: [{ name: "write", input: { path: "src/new.txt", content: "one\n2\n" }, id: "call_write" }] },
    { tools: [{ name: "edit", input: { path: "src/new.txt", oldString: "2", newString: "two" }, id: "call_edit" }] },
    { tools: [{ name: "apply_patch", input: { patchText }, id: "call_patch" }] },
    { text: "Done." },
  );
  await run(host, sessionID, "Change things");
  const tools = await readTools(host, sessionID);
  expect(tools.map(({ id, state }) => [id, state.status, "content" in state && state.content])).toEqual([
    ["call_write", "completed", [{ type: "text", text: "Created file successfully: src/new.txt" }]],
    [
      "call_edit",
      "completed",
      [
        {
          type: "text",
          text: "Edited file successfully: src/new.txt\nReplacements: 1\n```diff\n-2\n+two\n```",
        },
      ],
    ],
    [
      "call_patch",
      "completed",
      [{ type: "text", text: "Applied patch sequentially:\nM src/new.txt\nA added.txt\nD old.txt" }],
    ],
  ]);
  expect(readFiles(setup.directory)).toEqual({ "src/new.txt": "one\ntwo\nthree\n", "added.txt": "added\n" });
});

test.each([
  [{ name: "write", input: { path: "../a.txt", content: "new" } }, "Unable to write ../a.txt"],
  [{ name: "edit", input: { path: "../a.txt", oldString: "old", newString: "new" } }, "Unable to edit ../a.txt"],
  [
    { name: "apply_patch", input: { patchText: "*** Begin Patch\n*** Delete File: ../a.txt\n*** End Patch" } },
    "Unable to apply patch at patch",
  ],
])("does not change files outside the project: %j", async (call, message) => {
  const started = await setUpSession();
  started.setup.write("../a.txt", "old");
  const [result] = await runTools(started, call);
  const reason = "the relative path leaves the working directory";
  expect(JSON.parse(result?.content ?? "").error.message).toMatch(`${message}: `);
  expect(JSON.parse(result?.content ?? "").error.message).toMatch(reason);
  expect(readFileSync(path.join(started.setup.root, "a.txt"), "utf8")).toBe("old");
});

test("settles each of several calls of one answer once", async () => {
  const started = await setUpSession();
  const names = Array.from({ length: 20 }, (_, n) => `${n}.txt`);
  for (const name of names) started.setup.write(name, `This is ${name}`);
  const results = await runTools(
    started,
    ...names.map((name) => ({ name: "read", input: { path: name }, id: `call_${name}` })),
  );
  expect(results.map((result) => result.tool_call_id)).toEqual(names.map((name) => `call_${name}`));
  for (const [index, result] of results.entries()) expect(result.content).toContain(`This is ${names[index]}`);
  const history = await readHistory(started.host, started.sessionID);
  expect(types(history).filter((type) => type === "tool.success")).toHaveLength(20);
});

test("treats calls with the same id in two answers as two calls", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("a.txt", "A");
  setup.write("b.txt", "B");
  model.reply(
    { tools: [{ name: "read", input: { path: "a.txt" }, id: "call_0" }] },
    { tools: [{ name: "read", input: { path: "b.txt" }, id: "call_0" }] },
    { text: "Done." },
  );
  await run(host, sessionID, "Read both");
  const tools = await readTools(host, sessionID);
  expect(tools.map(({ state }) => state)).toMatchObject([
    { status: "completed", structured: { content: "A" } },
    { status: "completed", structured: { content: "B" } },
  ]);
});

describe("reports an invalid call to the model, which continues", () => {
  test.each([
    ["a missing file", { name: "read", input: { path: "missing.txt" } }, /missing\.txt/],
    ["an unknown tool", { name: "teleport", input: { to: "Mars" } }, /teleport/],
    ["input of the wrong shape", { name: "read", input: { path: 5 } }, /path/],
    ["input without a required key", { name: "read", input: {} }, /path/],
    ["a path that leaves the project", { name: "read", input: { path: "../opencode.db" } }, /opencode\.db/],
    ["a missing working directory", { name: "bash", input: { command: "true", workdir: "no" } }, /command: true/],
  ])("%s", async (_, call, message) => {
    const started = await setUpSession();
    const [result] = await runTools(started, call);
    expect(result?.content).toMatch(message);
    const [tool] = await readTools(started.host, started.sessionID);
    expect(tool?.state).toMatchObject({ status: "error", error: { message: expect.stringMatching(message) } });
    await expect(readTranscript(started.host, started.sessionID)).resolves.toEqual([
      "user: Use your tools",
      `assistant: [${call.name} error]`,
      "assistant: Done.",
    ]);
  });
});

test("stores and refuses input that is JSON but not an object", async () => {
  const started = await setUpSession();
  const [result] = await runTools(started, { name: "read", input: '["a.txt"]' });
  expect(result?.content).toMatch(/object/i);
  const [tool] = await readTools(started.host, started.sessionID);
  expect(tool?.state).toMatchObject({ status: "error", input: { value: ["a.txt"] } });
});

test("stops a model that calls tools endlessly, and continues after a prompt", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("a.txt", "A");
  // The input differs each time, because the third identical call would require a permission.
  const again = (limit: number): Reply => ({ tools: [{ name: "read", input: { path: "a.txt", limit } }] });
  model.reply(...Array.from({ length: 25 }, (_, n) => again(n + 1)), { text: "Enough." });
  await run(host, sessionID, "Loop");
  expect(model.requests).toHaveLength(25);
  await run(host, sessionID, "Stop it");
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Enough.");
});
