// Hostile projects. Their contents do not block a tool, a step or the host.

import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AssistantPartTool } from "../../index.js";
import type { ToolCall } from "../../testkit/reply.js";
import { readMessages, run, setUpSession } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

const MANY = 20_000;
const GIGABYTE = 2 ** 30;
/** Unusual file names. `NO_TEXT` is not valid UTF-8. */
const NAMES = [
  "new\nline",
  "bell\u0007\u001b[2J",
  "-rf",
  " ",
  "quote'\"$(touch ran)`touch ran`",
  "\u202egnp.txt",
  "no\uFEFFne",
];
const NO_TEXT = Buffer.from([0x6e, 0xff, 0xfe, 0x6f]);

async function call({ host, model, sessionID }: Started, ...calls: readonly ToolCall[]) {
  const before = await readTools(host, sessionID);
  model.reply({ tools: calls }, { text: "Done." });
  await run(host, sessionID, "Use your tools");
  return (await readTools(host, sessionID)).slice(before.length).map(({ state }) => state);
}

async function readTools(host: Started["host"], sessionID: string) {
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.filter((part): part is AssistantPartTool => part.type === "tool");
}

function makeRepository({ setup }: Started) {
  execFileSync("git", ["init"], { cwd: setup.directory, stdio: "ignore" });
}

test("handles a directory of 20,000 files and a file of 1 GiB", async () => {
  const started = await setUpSession();
  const { setup } = started;
  makeRepository(started);
  const many = path.join(setup.directory, "many");
  mkdirSync(many);
  for (let number = 0; number < MANY; number += 1) writeFileSync(path.join(many, `${number}`), "");
  setup.write("huge.txt", "first line\nlast needle\n");
  const huge = openSync(path.join(setup.directory, "huge.txt"), "r+");
  ftruncateSync(huge, GIGABYTE);
  closeSync(huge);

  const [listed, rest, found, matched, page, whole, edited, patched] = await call(
    started,
    { name: "read", input: { path: "many", limit: 2 } },
    { name: "read", input: { path: "many", offset: MANY } },
    { name: "glob", input: { pattern: `many/${MANY - 1}` } },
    { name: "grep", input: { pattern: "needle" } },
    { name: "read", input: { path: "huge.txt", limit: 1 } },
    { name: "read", input: { path: "huge.txt", offset: 3 } },
    { name: "edit", input: { path: "huge.txt", oldString: "first", newString: "second" } },
    {
      name: "apply_patch",
      input: { patchText: "*** Begin Patch\n*** Update File: huge.txt\n@@\n-first line\n+second\n*** End Patch" },
    },
  );
  const file = (name: string) => ({ path: name, type: "file" });
  expect(listed).toMatchObject({ structured: { entries: [file("0"), file("1")], truncated: true, next: 3 } });
  expect(rest).toMatchObject({ structured: { entries: [expect.any(Object)], truncated: false } });
  const last = expect.stringContaining(`many/${MANY - 1}`);
  expect(found).toMatchObject({ status: "completed", content: [{ text: last }] });
  expect(matched).toMatchObject({ status: "completed" });
  expect(page).toMatchObject({ structured: { content: "first line", next: 2 } });
  expect([whole, edited, patched].map((state) => state?.status)).toEqual(["error", "error", "error"]);
});

test("lists, reads, changes and reverts files with unusual names", async () => {
  const started = await setUpSession();
  const { setup, host, sessionID } = started;
  makeRepository(started);
  for (const name of NAMES) setup.write(name, `${name}\n`);
  writeFileSync(Buffer.concat([Buffer.from(`${setup.directory}/`), NO_TEXT]), "no text\n");
  symlinkSync("/proc/self/root", path.join(setup.directory, "root"));
  execFileSync("mkfifo", [path.join(setup.directory, "fifo")]);

  const reads = await call(started, ...NAMES.map((name) => ({ name: "read", input: { path: name } })));
  expect(reads.map((state) => state.status === "completed" && state.structured["content"])).toEqual(
    NAMES.map((name) => `${name}\n`),
  );
  const edits = NAMES.map((name) => ({ name: "edit", input: { path: name, oldString: name, newString: "other" } }));
  const { id } = await host.sessions.prompt({ sessionID, prompt: { text: "Nothing yet" }, resume: false });
  const edited = await call(started, ...edits);
  expect(edited.map(({ status }) => status)).toEqual(NAMES.map(() => "completed"));
  const read = () => NAMES.map((name) => readFileSync(path.join(setup.directory, name), "utf8"));
  expect(read()).toEqual(NAMES.map(() => "other\n"));
  const staged = await host.sessions.revert.stage({ sessionID, messageID: id });
  expect(staged.files?.map((file) => file.path).sort()).toEqual([...NAMES].sort());
  expect(read()).toEqual(NAMES.map((name) => `${name}\n`));
  expect(readdirSync(setup.directory)).not.toContain("ran");

  const listed = await host.files.list();
  const names = listed.data.map((entry) => entry.path).sort();
  expect(names).toEqual([".git/", "n\ufffd\ufffdo", ...NAMES].sort());
});
