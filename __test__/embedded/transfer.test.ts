import { open, writeFile } from "node:fs/promises";
import path from "node:path";
import { createClient } from "../../dist/client/index.js";
import type { OpenCodeHost } from "../../index.js";
import { collect, rejection } from "../client/support";
import { readHistory, readMessages, run, setUpSession } from "./support";
import type { Setup } from "./support";

const cut = { name: "ClientError", reason: "Transport" };

/** The member `imported` of a session of this directory that came with an import. */
const imported = { rules: 0, unconfirmed: [] };

/** A host and its session, which has one turn with a tool call. */
async function setUpExported() {
  const started = await setUpSession();
  const { setup, model, host, sessionID } = started;
  setup.write("a.txt", "\u00e9\ud83d\ude00\n");
  model.reply({ reasoning: "Hm.", tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "A face." });
  await run(host, sessionID, "Read a.txt");
  const lines = await collect(host.sessions.export({ sessionID }));
  return { ...started, lines };
}

/** Another host of the same setup, with its own database. */
function openOther(setup: Setup) {
  return setup.open({ database: path.join(setup.root, "other.db") });
}

function read(host: OpenCodeHost, sessionID: string) {
  return Promise.all([
    host.sessions.get({ sessionID }),
    host.sessions.inbox.list({ sessionID }),
    readMessages(host, sessionID),
    readHistory(host, sessionID),
  ]);
}

test("the first line describes the export, and the other lines are the events in order", async () => {
  const { session, lines, host, sessionID } = await setUpExported();
  const [header, ...events] = lines.map((line) => JSON.parse(line));
  expect(header).toStrictEqual({ format: "opencode-session", version: 1, session: expect.any(Object) });
  expect(header.session).toStrictEqual(await host.sessions.get({ sessionID }));
  expect(header.session.id).toBe(session.id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  const history = await readHistory(host, sessionID);
  expect(events.map(({ type }) => type)).toEqual([
    "session.created.1",
    ...history.map(({ type, durable }) => `${type}.${durable.version}`),
  ]);
  expect(events.slice(1).map(({ data }) => data)).toStrictEqual(history.map(({ data }) => data));
});

test("an imported session is identical, and its export has the same lines", async () => {
  const { setup, host, sessionID, lines } = await setUpExported();
  const other = await openOther(setup);
  const session = { ...(await host.sessions.get({ sessionID })), imported };
  const applied = lines.length - 1;
  await expect(other.sessions.import(lines)).resolves.toStrictEqual({ session, applied, skipped: 0 });
  const [, ...rest] = await read(host, sessionID);
  await expect(read(other, sessionID)).resolves.toStrictEqual([session, ...rest]);
  await expect(collect(other.sessions.export({ sessionID }))).resolves.toEqual(lines);
  // A second import changes nothing.
  await expect(other.sessions.import(lines)).resolves.toStrictEqual({ session, applied: 0, skipped: applied });
});

test("the export of one host can be passed directly to the import of another", async () => {
  const { setup, host, sessionID, lines } = await setUpExported();
  const other = await openOther(setup);
  const result = await other.sessions.import(host.sessions.export({ sessionID }));
  expect(result.applied).toBe(lines.length - 1);
});

test("an imported session continues from its last state", async () => {
  const { setup, model, sessionID, lines } = await setUpExported();
  const other = await openOther(setup);
  await other.sessions.import(lines);
  expect(model.requests).toHaveLength(2);
  model.reply({ text: "You are welcome." });
  await run(other, sessionID, "Thanks");
  expect((await readMessages(other, sessionID)).at(-1)).toMatchObject({
    type: "assistant",
    content: [{ type: "text", text: "You are welcome." }],
  });
});

test("a later export adds new events", async () => {
  const { setup, host, sessionID, lines } = await setUpExported();
  const other = await openOther(setup);
  await other.sessions.import(lines);
  await host.sessions.switchAgent({ sessionID, agent: "plan" });
  const later = await collect(host.sessions.export({ sessionID }));
  await expect(other.sessions.import(later)).resolves.toMatchObject({ applied: 1, skipped: lines.length - 1 });
  await expect(collect(other.sessions.export({ sessionID }))).resolves.toEqual(later);
});

test("a file transfers a session between two hosts", async () => {
  const { setup, host, sessionID, lines } = await setUpExported();
  const file = path.join(setup.root, "session.ndjson");
  await writeFile(
    file,
    (async function* () {
      for await (const line of host.sessions.export({ sessionID })) yield `${line}\n`;
    })(),
  );
  const other = await openOther(setup);
  await using handle = await open(file);
  await expect(other.sessions.import(handle.readLines())).resolves.toMatchObject({ applied: lines.length - 1 });
});

test("a client over fetch returns the same lines", async () => {
  const { setup, host, sessionID, lines } = await setUpExported();
  const client = createClient({ baseUrl: "http://opencode.local", fetch: host.fetch });
  await expect(collect(client.sessions.export({ sessionID }))).resolves.toEqual(lines);
  const other = await openOther(setup);
  const otherClient = createClient({ baseUrl: "http://opencode.local", fetch: other.fetch });
  await expect(otherClient.sessions.import(lines)).resolves.toMatchObject({ applied: lines.length - 1 });
});

describe("an export", () => {
  /** A session whose export takes several pulls. */
  async function setUpLong() {
    const started = await setUpSession();
    const { host, sessionID } = started;
    const text = "x".repeat(2_000);
    const prompts = Array.from({ length: 600 }, () =>
      host.sessions.prompt({ sessionID, prompt: { text }, resume: false }),
    );
    await Promise.all(prompts);
    return started;
  }

  test("omits events that happen after its beginning", async () => {
    const { host, sessionID } = await setUpLong();
    const lines = host.sessions.export({ sessionID })[Symbol.asyncIterator]();
    await lines.next();
    await host.sessions.switchAgent({ sessionID, agent: "late" });
    const rest = await collect({ [Symbol.asyncIterator]: () => lines });
    expect(rest).toHaveLength(601);
    expect(rest.some((line) => line.includes("late"))).toBe(false);
  });

  test.each([
    ["in memory", (host: OpenCodeHost) => host],
    ["over fetch", (host: OpenCodeHost) => createClient({ baseUrl: "http://host", fetch: host.fetch })],
  ])("fails if it is cut %s", async (_, clientOf) => {
    const { host, sessionID } = await setUpLong();
    const lines = clientOf(host).sessions.export({ sessionID })[Symbol.asyncIterator]();
    await lines.next();
    await host.close();
    await expect(rejection(collect({ [Symbol.asyncIterator]: () => lines }))).resolves.toMatchObject(cut);
  });

  test("rejects on abort", async () => {
    const { host, sessionID } = await setUpLong();
    const controller = new AbortController();
    const lines = host.sessions.export({ sessionID }, controller)[Symbol.asyncIterator]();
    await lines.next();
    controller.abort("enough");
    await expect(rejection(lines.next())).resolves.toMatchObject({ ...cut, cause: "enough" });
  });

  test("rejects for an unknown session", async () => {
    const { host } = await setUpSession();
    const missing = { _tag: "SessionNotFoundError", sessionID: "ses_nowhere" };
    const error = await rejection(collect(host.sessions.export({ sessionID: "ses_nowhere" })));
    expect(error).toMatchObject(missing);
  });
});

describe("an import is refused", () => {
  test("if a line is invalid, names the line, and stores nothing", async () => {
    const { setup, sessionID, lines } = await setUpExported();
    const other = await openOther(setup);
    const broken = [...lines.slice(0, -1), "{"];
    const refused = { _tag: "InvalidRequestError", kind: "Payload" };
    await expect(other.sessions.import(broken)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining(`line ${lines.length}`),
    });
    await expect(other.sessions.import([])).rejects.toMatchObject(refused);
    await expect(other.sessions.import(lines.slice(1))).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("line 1"),
    });
    await expect(other.sessions.get({ sessionID })).rejects.toMatchObject({ _tag: "SessionNotFoundError" });
  });

  test("if it contradicts stored events, which stay", async () => {
    const { host, sessionID, lines } = await setUpExported();
    const before = await read(host, sessionID);
    const prompted = lines.findIndex((line) => line.includes("prompt.admitted"));
    const other = lines.with(prompted, lines[prompted]!.replace("Read a.txt", "Read b.txt"));
    await expect(host.sessions.import(other)).rejects.toMatchObject({
      _tag: "ConflictError",
      message: expect.stringContaining(`line ${prompted + 1}`),
    });
    const gap = lines.toSpliced(prompted, 1);
    await expect(host.sessions.import(gap)).rejects.toMatchObject({ _tag: "ConflictError" });
    await expect(read(host, sessionID)).resolves.toStrictEqual(before);
  });

  test("if the session runs in this host", async () => {
    const { model, host, sessionID, lines } = await setUpExported();
    model.reply({ deltas: ["Once", " more."], gate: "middle" });
    await host.sessions.resume({ sessionID });
    await model.reached("middle");
    const busy = { _tag: "SessionBusyError", sessionID };
    await expect(host.sessions.import(lines)).rejects.toMatchObject(busy);
    model.release("middle");
    await host.sessions.wait({ sessionID });
  });

  test("if its source fails", async () => {
    const { setup, host, sessionID } = await setUpExported();
    const other = await openOther(setup);
    const source = host.sessions.export({ sessionID: "ses_nowhere" });
    await expect(other.sessions.import(source)).rejects.toMatchObject({ sessionID: "ses_nowhere" });
    await expect(other.sessions.get({ sessionID })).rejects.toMatchObject({ _tag: "SessionNotFoundError" });
  });
});
