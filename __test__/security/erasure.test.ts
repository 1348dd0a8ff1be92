import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { inflateSync } from "node:zlib";
import type { OpenCodeHost } from "../../index.js";
import { readUntil, run, type Setup, setUp, setUpSession, subscribe } from "../embedded/support";

// After a removal and `storage.compact`, no file of the host contains a text of the session.

/** The bytes of a file. Objects of snapshots are compressed. */
function readBytes(file: string) {
  const bytes = readFileSync(file);
  return /snapshot.*[/\\]objects[/\\]..[/\\][0-9a-f]{38}$/.test(file) ? inflateSync(bytes) : bytes;
}

/**
 * The words that occur in a file of the host: in any below the root but those of the project. The store compresses texts:
 * it keeps the bytes that occur for the first time, and the end of a word is a hash.
 */
function found(setup: Setup, words: readonly string[]) {
  const hits: string[] = [];
  for (const name of readdirSync(setup.root, { recursive: true }) as string[]) {
    const file = path.join(setup.root, name);
    if (file.startsWith(setup.directory) || !statSync(file).isFile()) continue;
    const bytes = readBytes(file);
    hits.push(...words.filter((word) => bytes.includes(word.slice(-HASH))).map((word) => `${word} in ${name}`));
  }
  return hits;
}

/** Every word must occur, so that a search that finds nothing proves something. */
function expectEach(setup: Setup, words: readonly string[]) {
  for (const word of words) expect(found(setup, [word])).not.toEqual([]);
}

/** Length of the hash at the end of a word that is searched. */
const HASH = 24;

const WORDS =
  "TITLE PROMPT WAITING ANSWER INPUT OUTPUT FAILED TODO RULE RENAMED ASKED NAME CREATED CHANGED CHILD".split(" ");

/** A session with a word of its own in each place that the host writes. Returns these words. */
async function fill(host: OpenCodeHost, { model, directory }: Setup, name: string) {
  const hash = (kind: string) =>
    createHash("sha256")
      .update(kind + name)
      .digest("hex")
      .slice(0, 32);
  const word = (kind: string) => `needle-${kind}-${hash(kind)}`;
  const asked = { action: "bash", resource: `echo ${word("ASKED")}*`, effect: "ask" as const };
  const { id: sessionID } = await host.sessions.create({
    title: word("TITLE"),
    permission: [{ action: "edit", resource: word("RULE"), effect: "deny" }, asked],
  });
  const file = `${word("NAME")}.txt`;
  const bash = (command: string) => ({ name: "bash", input: { command, description: word("INPUT") } });
  const write = (content: string) => ({ name: "write", input: { path: file, content } });
  const todos = [{ content: word("TODO"), status: "pending", priority: "high" }];
  model.reply(
    { tools: [bash(`echo ${word("OUTPUT")}; yes ${word("OUTPUT")} | head -n 9000`)] },
    { tools: [{ name: "fail", input: { text: word("FAILED") } }] },
    { tools: [{ name: "todowrite", input: { todos } }, write(word("CREATED"))] },
    { tools: [write(word("CHANGED"))] },
    { tools: [bash(`echo ${word("ASKED")}`)] },
    { text: word("ANSWER") },
  );
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: word("PROMPT") });
  await readUntil(live, "permission.v2.asked");
  const [request] = await host.permissions.list({ sessionID });
  await host.permissions.reply({ sessionID, requestID: request!.id, reply: "once" });
  await host.sessions.wait({ sessionID });
  // The next session must not have the file in its snapshots.
  rmSync(path.join(directory, file));
  await host.sessions.prompt({ sessionID, prompt: word("WAITING"), resume: false });
  await host.sessions.update({ sessionID, title: `${word("RENAMED")}${"x".repeat(300)}` });
  const child = await host.sessions.create({ parentID: sessionID });
  await host.sessions.prompt({ sessionID: child.id, prompt: word("CHILD"), resume: false });
  await host.sessions.fork({ sessionID });
  return { sessionID, file, words: WORDS.map(word) };
}

async function setUpFilled(count: number) {
  const { setup, host } = await setUpSession();
  execFileSync("git", ["init", "--quiet", setup.directory]);
  host.tools.register({
    name: "fail",
    description: "Fails",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: ({ text }: { text: string }) => {
      throw new Error(`${text}\n`.repeat(9_000));
    },
  });
  const sessions = [];
  for (let n = 0; n < count; n += 1) sessions.push(await fill(host, setup, `s${n}-${"abcdefgh"[n]}`));
  return { setup, host, sessions };
}

test("a removal and a compaction leave no text of a session in any file, and those of others stay", async () => {
  const { setup, host, sessions } = await setUpFilled(6);
  const all = sessions.flatMap(({ words }) => words);
  expectEach(setup, all);
  const kept = sessions.filter((_, index) => index % 2 === 0);
  const removed = sessions.filter((_, index) => index % 2 === 1);
  for (const { sessionID } of removed) await host.sessions.remove({ sessionID });
  const { before, after, erased } = await host.storage.compact();
  expect(erased).toBe(true);
  expect(after).toBeLessThanOrEqual(before);
  expect(
    found(
      setup,
      removed.flatMap(({ words }) => words),
    ),
  ).toEqual([]);
  expectEach(
    setup,
    kept.flatMap(({ words }) => words),
  );
  for (const { sessionID, file, words } of kept) {
    const [diff] = await host.sessions.diff({ sessionID });
    expect(diff).toMatchObject({ path: file, status: "added" });
    expect(diff?.patch).toContain("needle-CHANGED");
    const texts = JSON.stringify(await host.sessions.context({ sessionID }));
    for (const kind of ["PROMPT", "ANSWER"]) expect(texts).toContain(words.find((word) => word.includes(kind)));
  }
  // The next step captures the files although objects that it would have reused are gone.
  const last = await fill(host, setup, "s7-h");
  expect(await host.sessions.diff({ sessionID: last.sessionID })).toMatchObject([{ path: last.file }]);
  while ((await host.sessions.prune({ keepLast: 0, archived: false })).hasMore);
  expect(await host.storage.compact()).toMatchObject({ erased: true });
  expect(found(setup, [...all, ...last.words])).toEqual([]);
}, 120_000);

test("a removal of another host is erased by the next one, and another database keeps its snapshots", async () => {
  const { setup, host, sessions } = await setUpFilled(1);
  const [{ sessionID, words }] = sessions as [(typeof sessions)[0]];
  const other = await setup.open({ database: path.join(setup.root, "other.db") });
  setup.model.reply({ tools: [{ name: "write", input: { path: "a.txt", content: "A" } }] }, { text: "Done." });
  const { id } = await other.sessions.create();
  await run(other, id, "Write");
  await host.sessions.remove({ sessionID });
  await host.close();
  const next = await setup.open();
  expect(await next.storage.compact()).toMatchObject({ erased: false });
  const stay = /^needle-(NAME|CREATED|CHANGED)/;
  expect(
    found(
      setup,
      words.filter((word) => !stay.test(word)),
    ),
  ).toEqual([]);
  expect(await other.sessions.diff({ sessionID: id })).toMatchObject([{ path: "a.txt", additions: 1 }]);
}, 60_000);

test("a session that works during an erasure keeps the snapshots of its steps", async () => {
  const { setup, host, sessions } = await setUpFilled(1);
  const [{ sessionID, words }] = sessions as [(typeof sessions)[0]];
  const write = (content: string) => ({ tools: [{ name: "write", input: { path: "a.txt", content } }] });
  setup.model.reply(write("one\n"), { ...write("two\n"), gate: "middle" }, { text: "Done." });
  const { id } = await host.sessions.create();
  await host.sessions.prompt({ sessionID: id, prompt: "Write twice" });
  // The second step has its snapshot, and no session names it.
  await setup.model.reached("middle");
  await host.sessions.remove({ sessionID });
  const compacted = host.storage.compact();
  // Writes wait for the erasure, and none fails.
  const titles = Array.from({ length: 50 }, (_, n) => host.sessions.update({ sessionID: id, title: `Title ${n}` }));
  expect(await compacted).toMatchObject({ erased: true });
  await Promise.all(titles);
  expect(found(setup, words)).toEqual([]);
  setup.model.release("middle");
  await host.sessions.wait({ sessionID: id });
  expect(await host.sessions.diff({ sessionID: id })).toMatchObject([{ path: "a.txt", additions: 1, status: "added" }]);
  const [first] = await host.sessions.context({ sessionID: id });
  await host.sessions.revert.stage({ sessionID: id, messageID: first!.id });
  expect(existsSync(path.join(setup.directory, "a.txt"))).toBe(false);
}, 60_000);

test("a removed or replaced key is erased at once", async () => {
  const setup = await setUp();
  const config = setup.model.config();
  // A provider with a variable is an integration that takes keys.
  Object.assign(config.provider.mock, { env: ["MOCK_KEY"] });
  const host = await setup.open({ config });
  const keys = Array.from({ length: 6 }, (_, n) => `sk-needle-${"k".repeat(900)}-${n}`);
  const read = async () => (await host.integrations.get({ integrationID: "mock" })).data?.connections ?? [];
  for (const [n, key] of keys.entries()) {
    await host.integrations.connectKey({ integrationID: "mock", key });
    expect(found(setup, keys.slice(0, n))).toEqual([]);
    expect(found(setup, [key])).not.toEqual([]);
  }
  const [connection] = await read();
  if (connection?.type !== "credential") throw new Error("no credential");
  await host.credentials.remove({ credentialID: connection.id });
  expect(found(setup, keys)).toEqual([]);
});
