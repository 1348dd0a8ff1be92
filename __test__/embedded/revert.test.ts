import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { rejection } from "../client/support";
import { readHistory, readTranscript, run, setUpSession, types } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

/** Makes the project a repository that contains `a.txt`. */
function makeRepository({ setup }: Started) {
  setup.write("a.txt", "one\n");
  const git = (...options: string[]) => execFileSync("git", options, { cwd: setup.directory, stdio: "ignore" });
  git("init", "--initial-branch=main");
  git("add", "--all");
  git("-c", "user.email=t@t", "-c", "user.name=t", "commit", "--message=first");
}

/** A session in a repository, in which it has changed `a.txt` and then added `b.txt`, and the two prompts. */
async function twoTurns() {
  const started = await setUpSession();
  makeRepository(started);
  return changeTwice(started);
}

async function changeTwice(started: Started) {
  const { model, host, sessionID } = started;
  model.reply({ tools: [{ name: "write", input: { path: "a.txt", content: "two\n" } }] }, { text: "Changed." });
  const first = await run(host, sessionID, "Change a");
  model.reply({ tools: [{ name: "write", input: { path: "b.txt", content: "new\n" } }] }, { text: "Added." });
  const second = await run(host, sessionID, "Add b");
  return { ...started, first: first.id, second: second.id };
}

/** The texts of `a.txt` and `b.txt`. */
function files({ setup }: Started) {
  const read = (name: string) => {
    const file = path.join(setup.directory, name);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  };
  return [read("a.txt"), read("b.txt")];
}

test("stages, moves and clears a revert, and changes the files accordingly", async () => {
  const started = await twoTurns();
  const { host, sessionID, first, second } = started;
  const staged = await host.sessions.revert.stage({ sessionID, messageID: second });
  expect(staged).toStrictEqual({
    messageID: second,
    snapshot: expect.stringMatching(/^[0-9a-f]{40}$/),
    diff: staged.files?.[0]?.patch.trim(),
    files: [{ path: "b.txt", status: "deleted", additions: 0, deletions: 1, patch: expect.any(String) }],
  });
  expect(files(started)).toEqual(["two\n", undefined]);
  await host.sessions.revert.stage({ sessionID, messageID: first });
  expect(files(started)).toEqual(["one\n", undefined]);
  const { revert } = await host.sessions.get({ sessionID });
  expect(revert).toMatchObject({ messageID: first, snapshot: staged.snapshot });
  await host.sessions.revert.clear({ sessionID });
  expect(files(started)).toEqual(["two\n", "new\n"]);
  await expect(host.sessions.get({ sessionID })).resolves.not.toHaveProperty("revert");
});

test("the next prompt commits the staged revert, and later requests omit the reverted messages", async () => {
  const started = await twoTurns();
  const { model, host, sessionID, second } = started;
  await host.sessions.revert.stage({ sessionID, messageID: second });
  model.reply({ text: "Again." });
  await run(host, sessionID, "Go on");
  const { body } = await model.received(5);
  expect(JSON.stringify(body.messages)).not.toContain("Added.");
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Change a",
    "assistant: [write completed]",
    "assistant: Changed.",
    "user: Add b",
    "user: Go on",
    "assistant: Again.",
  ]);
  expect(files(started)).toEqual(["two\n", undefined]);
  expect(types(await readHistory(host, sessionID)).slice(-8)).toEqual([
    "revert.staged",
    "prompt.admitted",
    "revert.committed",
    "prompted",
    "step.started",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
});

test("a part of an answer can be the boundary", async () => {
  const { host, sessionID } = await twoTurns();
  const { items } = await host.sessions.messages({ sessionID, order: "asc" });
  const messageID = items[1]?.id ?? "";
  const unknown = host.sessions.revert.stage({ sessionID, messageID, partID: "nothing" });
  await expect(rejection(unknown)).resolves.toMatchObject({ _tag: "InvalidRequestError", field: "partID" });
  const [part] = items[1]?.type === "assistant" ? items[1].content : [];
  await host.sessions.revert.stage({ sessionID, messageID, partID: part?.id, exact: true });
  await host.sessions.revert.commit({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Change a", "assistant: "]);
});

test("an answer as the boundary means its prompt, unless the answer is to stay", async () => {
  const started = await twoTurns();
  const { host, sessionID, first } = started;
  const { items } = await host.sessions.messages({ sessionID, order: "asc" });
  // The text after the step that changed a.
  const messageID = items[2]?.id ?? "";
  const exact = await host.sessions.revert.stage({ sessionID, messageID, exact: true });
  expect(exact).toMatchObject({ messageID });
  expect(files(started)).toEqual(["two\n", undefined]);
  const moved = await host.sessions.revert.stage({ sessionID, messageID });
  expect(moved).toMatchObject({ messageID: first });
  expect(files(started)).toEqual(["one\n", undefined]);
  await host.sessions.revert.commit({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Change a"]);
});

test("keeps and reports files that another program changed", async () => {
  const started = await twoTurns();
  const { setup, host, sessionID, first } = started;
  setup.write("a.txt", "mine\n");
  const staged = await host.sessions.revert.stage({ sessionID, messageID: first });
  expect(staged).toMatchObject({ conflicts: ["a.txt"], files: [{ path: "b.txt" }] });
  expect(files(started)).toEqual(["mine\n", undefined]);
});

test("refuses a running session and an unknown message", async () => {
  const { model, host, sessionID, first } = await twoTurns();
  const unknownID = "msg_1f85be63a001W5gwll730PFofd";
  const unknown = await rejection(host.sessions.revert.stage({ sessionID, messageID: unknownID }));
  expect(unknown).toMatchObject({ _tag: "MessageNotFoundError", sessionID, messageID: unknownID });
  model.reply({ text: "Never heard.", gate: "start" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Wait" } });
  await model.reached("start");
  const busy = { _tag: "SessionBusyError", sessionID, message: expect.any(String) };
  const { revert } = host.sessions;
  expect(await rejection(revert.stage({ sessionID, messageID: first }))).toMatchObject(busy);
  expect(await rejection(revert.clear({ sessionID }))).toMatchObject(busy);
  expect(await rejection(revert.commit({ sessionID }))).toMatchObject(busy);
  await host.sessions.interrupt({ sessionID });
  await revert.stage({ sessionID, messageID: first });
});

test("changes only the files of the repository, not its Git data", async () => {
  const started = await setUpSession();
  makeRepository(started);
  const repository = path.join(started.setup.directory, ".git");
  const seen = () => {
    const entries = readdirSync(repository, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    return names.map((name) => [name, statSync(name).mtimeMs, readFileSync(name, "hex")]);
  };
  const before = seen();
  const { host, sessionID, first } = await changeTwice(started);
  await host.sessions.revert.stage({ sessionID, messageID: first });
  await host.sessions.revert.clear({ sessionID });
  await host.sessions.revert.stage({ sessionID, messageID: first });
  await host.sessions.revert.commit({ sessionID });
  expect(seen()).toEqual(before);
});

test("reverts only messages outside a repository", async () => {
  const started = await setUpSession();
  const { model, host, sessionID } = started;
  model.reply({ tools: [{ name: "write", input: { path: "a.txt", content: "one\n" } }] }, { text: "Written." });
  const { id: messageID } = await run(host, sessionID, "Write a");
  await expect(host.sessions.revert.stage({ sessionID, messageID })).resolves.toStrictEqual({ messageID });
  await host.sessions.revert.commit({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Write a"]);
  expect(files(started)).toEqual(["one\n", undefined]);
});
