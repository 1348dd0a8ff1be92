import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { OpenCodeHost } from "../../index.js";
import { collect } from "../client/support";
import { readHistory, readMessages, run, setUp, type Setup } from "../embedded/support";
import { Child } from "./child";

// A kill in the middle of a removal with its erasure, and in the middle of an import.

/** The words that occur in the database, its log or a long output. */
function found(setup: Setup, words: readonly string[]) {
  const names = readdirSync(setup.root, { recursive: true }) as string[];
  const files = names.map((name) => path.join(setup.root, name));
  const own = files.filter((file) => !file.startsWith(setup.directory) && statSync(file).isFile());
  const contents = own.map((file) => readFileSync(file));
  return words.filter((word) => contents.some((content) => content.includes(word)));
}

const word = (name: string) => `needle-${name}-`;

/** A session with an answer, a long output and 2 MB of waiting prompts. */
async function fill(host: OpenCodeHost, { model }: Setup, name: string) {
  const { id } = await host.sessions.create({ title: word(name) });
  const command = `yes ${word(name)} | head -n 9000`;
  model.reply({ tools: [{ name: "bash", input: { command, description: "d" } }] }, { text: word(name) });
  await run(host, id, word(name));
  const prompt = word(name).repeat(20_000);
  for (let n = 0; n < 8; n += 1) await host.sessions.prompt({ sessionID: id, prompt, resume: false });
  return id;
}

/** Parts of the greatest length of the write-ahead log, at which the process is killed. */
const PARTS = [0, 0.02, 0.4, 0.97];

/** Kills the process when the log of its database is that long, or when its work is done. Returns the greatest length. */
async function killAt(child: Child, done: string, database: string, length: number) {
  await child.printed("begins");
  let longest = 0;
  while (!child.lines.some(({ line }) => line === done)) {
    longest = Math.max(longest, statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0);
    if (longest >= length) break;
    await new Promise(setImmediate);
  }
  child.kill("SIGKILL");
  await child.exited;
  return longest;
}

test("a kill during a removal and its erasure loses nothing of others, and the next host erases the rest", async () => {
  const setup = await setUp();
  // The first run is not killed before its end, and measures.
  let longest = Infinity;
  const first = await setup.open();
  const kept = await fill(first, setup, "kept");
  const before = JSON.stringify(await readMessages(first, kept));
  const waiting = (await first.sessions.inbox.list({ sessionID: kept })).length;
  await first.close();
  for (const part of [1, ...PARTS]) {
    const host = await setup.open();
    const removed = [await fill(host, setup, "one"), await fill(host, setup, "two")];
    await host.close();
    const child = new Child("erasing", { work: "erase", options: setup.options(), removed });
    const reached = await killAt(child, "compacted", setup.database, part * longest);
    if (part === 1) longest = reached;

    const next = await setup.open();
    expect(JSON.stringify(await readMessages(next, kept))).toBe(before);
    expect(await next.sessions.inbox.list({ sessionID: kept })).toHaveLength(waiting);
    const { items } = await next.sessions.list();
    const left = items.map(({ id }) => id).filter((id) => id !== kept);
    if (child.lines.some(({ line }) => line === "removed")) expect(left).toEqual([]);
    for (const sessionID of left) await next.sessions.remove({ sessionID });
    expect(await next.storage.compact()).toMatchObject({ erased: true });
    expect(found(setup, [word("one"), word("two")])).toEqual([]);
    expect(found(setup, [word("kept")])).toEqual([word("kept")]);
    await next.close();
  }
}, 300_000);

test("a kill during an import leaves nothing of it or all of it as imported, and recovery resumes none of it", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." });
  const source = await setup.open({ database: path.join(setup.root, "source.db") });
  const { id: sessionID } = await source.sessions.create({
    permission: [{ action: "*", resource: "*", effect: "allow" }],
  });
  await run(source, sessionID, "Hi");
  const prompt = "p".repeat(400_000);
  for (let n = 0; n < 15; n += 1) await source.sessions.prompt({ sessionID, prompt, resume: false });
  const exported = await collect(source.sessions.export({ sessionID }));
  // A prompt that became a message and has no answer: the work that a recovery would resume.
  const data = { timestamp: 9, sessionID, messageID: "msg_open", prompt: { text: "Run it" }, delivery: "steer" };
  const open = ["session.next.prompt.admitted.1", "session.next.prompted.1"].map((type, index) =>
    JSON.stringify({ id: `evt_open${index}`, type, seq: exported.length - 1 + index, data }),
  );
  const lines = [...exported, ...open];
  // The lines are too long for an argument of a program.
  const file = path.join(setup.root, "lines.json");
  writeFileSync(file, JSON.stringify(lines));
  let longest = Infinity;
  for (const part of [1, ...PARTS]) {
    const database = path.join(setup.root, `import-${part}.db`);
    const child = new Child("erasing", { work: "import", options: setup.options({ database }), file });
    const reached = await killAt(child, "imported", database, part * longest);
    if (part === 1) longest = reached;

    const requests = setup.model.requests.length;
    const host = await setup.open({ database, recovery: "resume" });
    const { items } = await host.sessions.list();
    if (child.lines.some(({ line }) => line === "imported")) expect(items).toHaveLength(1);
    for (const session of items) {
      expect(session.imported).toMatchObject({ rules: 1 });
      expect(await host.sessions.inbox.list({ sessionID })).toEqual([]);
      await host.sessions.wait({ sessionID });
      const types = (await readHistory(host, sessionID)).map(({ type }) => type);
      expect(types.filter((type) => type === "session.next.prompt.withdrawn").length).toBeGreaterThanOrEqual(15);
    }
    expect(await host.sessions.active()).toEqual({});
    expect(await host.sessions.interrupted()).toEqual([]);
    expect(setup.model.requests).toHaveLength(requests);
    // The same import succeeds afterwards.
    await host.sessions.import(lines);
    expect((await host.sessions.get({ sessionID })).imported).toMatchObject({ rules: 1 });
    expect(await host.sessions.inbox.list({ sessionID })).toEqual([]);
    await host.close();
  }
}, 300_000);
