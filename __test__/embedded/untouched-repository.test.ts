// A repository in which every program that Git runs by itself leaves a trace. A session with snapshots, commands and
// reverts leaves the repository unchanged.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run, setUpSession } from "./support";

const HOOKS = [
  "post-checkout",
  "post-index-change",
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "reference-transaction",
  "pre-auto-gc",
  "post-rewrite",
  "fsmonitor-watchman",
];

/** Makes the project a repository with hooks, filters, a staged file, a stash and packed references. */
function makeRepository(directory: string, ran: string) {
  const git = (...options: string[]) => {
    const identity = ["-c", "user.email=t@t", "-c", "user.name=t"];
    execFileSync("git", [...identity, ...options], { cwd: directory, stdio: "ignore" });
  };
  const write = (name: string, text: string) => writeFileSync(path.join(directory, name), text);
  git("init", "--initial-branch=main");
  write("a.txt", "one\n");
  write("filtered.txt", "one\r\n");
  git("add", "--all");
  git("commit", "--message=first");
  git("branch", "other");
  write("a.txt", "stashed\n");
  git("stash");
  git("pack-refs", "--all");
  write("staged.txt", "staged\n");
  git("add", "staged.txt");
  write(".gitattributes", "* filter=tells diff=tells text\n");
  const script = path.join(directory, ".git", "tells");
  const tells = `#!/bin/sh\necho "$0 $*" >> '${ran}'\ncat\n`;
  for (const file of [script, ...HOOKS.map((hook) => path.join(directory, ".git", "hooks", hook))]) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, tells);
    chmodSync(file, 0o755);
  }
  for (const key of ["filter.tells.clean", "filter.tells.smudge", "diff.tells.textconv", "diff.tells.command"]) {
    git("config", key, script);
  }
  git("config", "core.autocrlf", "true");
  git("config", "core.fsmonitor", script);
  git("config", "core.untrackedCache", "true");
}

/** All entries of a directory: names, kinds, bytes, modes and modification times. */
function readTree(directory: string) {
  const names = (readdirSync(directory, { recursive: true }) as string[]).sort();
  return ["", ...names].map((name) => {
    const file = path.join(directory, name);
    const { mode, mtimeNs, ino } = lstatSync(file, { bigint: true });
    return [name, mode, mtimeNs, ino, lstatSync(file).isFile() ? readFileSync(file, "hex") : undefined];
  });
}

test("a session with snapshots, commands and reverts leaves the repository unchanged", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  const { directory, root } = setup;
  const ran = path.join(root, "ran");
  makeRepository(directory, ran);
  expect(existsSync(ran)).toBe(false);
  const before = readTree(path.join(directory, ".git"));
  const read = (name: string) => readFileSync(path.join(directory, name), "utf8");
  const files = () => ["a.txt", "filtered.txt", "staged.txt"].map(read);

  model.reply({ tools: [{ name: "write", input: { path: "a.txt", content: "two\n" } }] }, { text: "Written." });
  const { id: first } = await run(host, sessionID, "Write");
  const command = "printf 'two\\r\\n' > filtered.txt; rm staged.txt; mkdir -p deep; echo new > deep/new.txt";
  model.reply({ tools: [{ name: "bash", input: { command } }] }, { text: "Ran." });
  const { id: second } = await run(host, sessionID, "Run");

  const staged = await host.sessions.revert.stage({ sessionID, messageID: first });
  expect(staged.files?.map((file) => file.path)).toEqual(["a.txt", "deep/new.txt", "filtered.txt", "staged.txt"]);
  expect(files()).toEqual(["one\n", "one\r\n", "staged\n"]);
  await host.sessions.revert.stage({ sessionID, messageID: second });
  await host.sessions.revert.clear({ sessionID });
  expect([read("filtered.txt"), existsSync(path.join(directory, "staged.txt"))]).toEqual(["two\r\n", false]);
  await host.sessions.revert.stage({ sessionID, messageID: first });
  await host.sessions.revert.commit({ sessionID });
  await run(host, sessionID, "Go on");
  await host.close();

  expect(files()).toEqual(["one\n", "one\r\n", "staged\n"]);
  expect(readTree(path.join(directory, ".git"))).toEqual(before);
  expect(existsSync(ran)).toBe(false);
});
