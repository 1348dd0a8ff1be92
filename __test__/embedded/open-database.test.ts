// SQLite's file locks belong to the process. The process loses them when it closes any descriptor of the file. So no
// part of a host opens the files of an open database, whichever path leads to them.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { AssistantPartTool, OpenCodeHost } from "../../index.js";
import bunPackage from "bun/package.json";
import { readMessages, run, type Setup, setUp } from "./support";

const COMPANIONS = ["", "-wal", "-shm"];

/** Number of locks that this process holds on a file and on the files beside it. */
function locksOf(database: string) {
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return COMPANIONS.map((suffix) => {
    const inode = `:${String(statSync(database + suffix).ino)} `;
    const own = locks.filter((lock) => lock.includes("POSIX") && lock.includes(` ${String(process.pid)} `));
    return own.filter((lock) => lock.includes(inode)).length;
  });
}

/** Fails if a lock is missing. Work in progress may hold more locks for a moment. */
function expectLocks(database: string, before: number[]) {
  const missing = locksOf(database).map((locks, file) => Math.max(0, (before[file] ?? 0) - locks));
  expect(missing).toEqual([0, 0, 0]);
}

async function failuresOf(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  const tools = parts.filter((part): part is AssistantPartTool => part.type === "tool");
  return tools.map(({ state }) => (state.status === "error" ? state.error.message : state.status));
}

/**
 * The Bun executable. Bun has one package per platform, and only that of this platform is installed. The install script
 * of Bun, if it ran, moved the executable to its own package.
 */
function findBun() {
  const modules = path.resolve(__dirname, "../../node_modules");
  const names = Object.keys(bunPackage.optionalDependencies);
  const places = [...names.map((name) => path.join(name, "bin/bun")), "bun/bin/bun.exe"];
  return places.map((place) => path.join(modules, place)).find((file) => existsSync(file))!;
}

/** Starts another SQLite program, which writes to the database until it is stopped. */
async function startWriter(database: string) {
  const program = path.join(__dirname, "other-writer.mjs");
  const child = spawn(findBun(), [program, database], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  expect(await lines.next()).toMatchObject({ value: "ready" });
  return {
    /** Ends the program. All rows that either program wrote must be present. */
    async stop() {
      child.stdin.end();
      const { value } = await lines.next();
      await exited;
      const { rows, ...rest } = JSON.parse(value!);
      expect(rows).toBeGreaterThan(0);
      expect(rest).toEqual({ found: rows, integrity: "ok" });
    },
  };
}

/** Closes the hosts, and reads the prompts of a session from the file. */
async function expectKept(setup: Setup, sessionID: string, prompts: string[]) {
  await setup.close();
  const host = await setup.open({ directory: setup.root, database: undefined, trust: true });
  const messages = await readMessages(host, sessionID);
  const texts = messages.flatMap((message) => (message.type === "user" ? [message.text] : []));
  expect(texts).toEqual(prompts);
}

/** A host whose Location is the home directory, which also contains the database. */
async function setUpHome() {
  const setup = await setUp();
  const { root, model } = setup;
  execFileSync("git", ["init", "--quiet", root]);
  const host = await setup.open({ directory: root, database: undefined, trust: true });
  const database = path.join(root, ".local/share/opencode/embedded/opencode.db");
  const { id: sessionID } = await host.sessions.create();
  return { setup, root, model, host, database, sessionID };
}

/** Links names of Git objects to the database, in the repository and in a repository whose objects it borrows. */
function linkObjects(objects: string, database: string) {
  const borrowed = path.join(path.dirname(objects), "borrowed");
  for (const place of [objects, borrowed]) {
    mkdirSync(path.join(place, "pack"), { recursive: true });
    mkdirSync(path.join(place, "info"), { recursive: true });
    const pack = path.join(place, "pack", `pack-${"1".repeat(40)}`);
    symlinkSync(database, `${pack}.idx`);
    symlinkSync(database, `${pack}.pack`);
  }
  writeFileSync(path.join(objects, "info/alternates"), `${borrowed}\n`);
}

test("tools refuse the files of the open database and keep its locks", async () => {
  const { setup, root, model, host, database, sessionID } = await setUpHome();
  linkSync(database, path.join(root, "hard"));
  const before = locksOf(database);
  expect(before[0]).toBeGreaterThan(0);
  const writer = await startWriter(database);
  const files = [...COMPANIONS.map((suffix) => database + suffix), path.join(root, "hard")];
  const patch = (file: string) => `*** Begin Patch\n*** Delete File: ${path.relative(root, file)}\n*** End Patch`;
  const calls = files.flatMap((file) => [
    { name: "read", input: { path: file } },
    { name: "grep", input: { pattern: "SQLite", path: file } },
    { name: "edit", input: { path: file, oldString: "SQLite", newString: "Other" } },
    { name: "write", input: { path: file, content: "other" } },
    { name: "apply_patch", input: { patchText: patch(file) } },
  ]);
  model.reply({ tools: calls });
  model.reply({ tools: [{ name: "grep", input: { pattern: "SQLite" } }] });
  model.reply({ text: "Done." });
  await run(host, sessionID, "Look at the database");
  const failures = await failuresOf(host, sessionID);
  expect(failures.slice(0, calls.length)).toEqual(
    calls.map(() => expect.stringContaining(`it belongs to the open database ${database} of this program`)),
  );
  expect(failures.at(-1)).toBe("completed");
  expectLocks(database, before);
  await writer.stop();
  await expectKept(setup, sessionID, ["Look at the database"]);
});

test("files, instructions, configuration, ignore files and snapshots keep the locks of the database", async () => {
  const { setup, root, model, host, database, sessionID } = await setUpHome();
  const before = locksOf(database);
  const writer = await startWriter(database);
  const location = path.join(root, "location");
  mkdirSync(path.join(location, ".opencode/agent"), { recursive: true });
  symlinkSync(database, path.join(location, "AGENTS.md"));
  symlinkSync(database, path.join(location, ".opencode/agent/helper.md"));
  symlinkSync(database, path.join(location, ".gitignore"));
  rmSync(path.join(root, ".git/info/exclude"), { force: true });
  symlinkSync(database, path.join(root, ".git/info/exclude"));
  symlinkSync(database, path.join(root, ".git/index"));
  linkObjects(path.join(root, ".git/objects"), database);
  const configuration = { instructions: [`${path.dirname(database)}/*`], username: `{file:${database}-shm}` };
  writeFileSync(path.join(location, "opencode.json"), JSON.stringify(configuration));
  const relative = path.relative(root, database);
  for (const suffix of COMPANIONS) {
    const read = host.files.read({ path: relative + suffix });
    await expect(read).rejects.toThrow(/it belongs to the open database/);
  }
  for (const directory of [root, location]) {
    const found = host.files.find({ query: "db", location: { directory } });
    await expect(found).rejects.toThrow(/ignore files/);
  }
  // Unreadable instructions prevent the first turn of a session.
  const { id: blocked } = await host.sessions.create({ location: { directory: location } });
  await host.sessions.prompt({ sessionID: blocked, prompt: { text: "Hi" } });
  await host.sessions.wait({ sessionID: blocked });
  expectLocks(database, before);
  // A step with a write, because snapshots read the files before and after it.
  model.reply({ tools: [{ name: "write", input: { path: "new.txt", content: "new" } }] });
  model.reply({ text: "Done." });
  await run(host, sessionID, "Write");
  expect(await failuresOf(host, sessionID)).toEqual(["completed"]);
  // Another host of the process reads the same files.
  const other = await setup.open({ directory: root, database: path.join(root, "other.db"), trust: true });
  const { id } = await other.sessions.create();
  model.reply({ tools: [{ name: "read", input: { path: database } }] });
  model.reply({ text: "Done." });
  await run(other, id, "Read");
  expect(await failuresOf(other, id)).toEqual([expect.stringContaining("it belongs to the open database")]);
  await other.close();
  expectLocks(database, before);
  model.reply({ text: "Still here." });
  await run(host, sessionID, "And now?");
  await writer.stop();
  await expectKept(setup, sessionID, ["Write", "And now?"]);
});

test("refuses a prompt after the database file was moved", async () => {
  const { host, database, sessionID } = await setUpHome();
  renameSync(database, `${database}.moved`);
  const prompt = () => host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await expect(prompt()).rejects.toThrow(`its file ${database} was removed or replaced while it was open`);
  await expect(prompt()).rejects.toThrow("close this host and open it again");
  expect(existsSync(database)).toBe(false);
});
