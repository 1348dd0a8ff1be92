import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { collect, rejection } from "../client/support";
import { readMessages, run, setUpSession } from "./support";
import type { SessionsImportDocumentInput } from "../../index.js";

const SESSION = "ses_5ff0aa0000ffeOldSession0001";

/** A session as `opencode export` prints it: a prompt, a call, an answer. */
function createDocument(directory: string): SessionsImportDocumentInput {
  const sessionID = SESSION;
  const tokens = { input: 10, output: 5, reasoning: 0, cache: { read: 2, write: 0 } };
  const answer = (id: string, created: number, finish: string) => ({
    id,
    sessionID,
    role: "assistant",
    parentID: "msg_1",
    mode: "build",
    agent: "build",
    modelID: "m",
    providerID: "p",
    path: { cwd: directory, root: directory },
    cost: 0.25,
    tokens,
    finish,
    time: { created, completed: created + 1 },
  });
  const part = (id: string, messageID: string, rest: object) => ({ id, messageID, sessionID, ...rest });
  const state = {
    status: "completed",
    input: { path: "a.txt" },
    output: "old content",
    title: "a.txt",
    metadata: {},
    time: { start: 2002, end: 2003 },
  };
  return {
    info: {
      id: sessionID,
      slug: "old-session",
      projectID: "global",
      directory,
      title: "An old session",
      version: "1.0.0",
      time: { created: 1000, updated: 3000 },
      share: { url: "https://example.test/s/1" },
    },
    messages: [
      {
        info: {
          id: "msg_1",
          sessionID,
          role: "user",
          agent: "build",
          model: { providerID: "scripted", modelID: "test" },
          time: { created: 2000 },
        },
        parts: [part("prt_1", "msg_1", { type: "text", text: "Read a.txt" })],
      },
      {
        info: answer("msg_2", 2001, "tool-calls"),
        parts: [
          part("prt_2", "msg_2", { type: "step-start", snapshot: "0123" }),
          part("prt_3", "msg_2", { type: "tool", callID: "call_1", tool: "read", state }),
        ],
      },
      { info: answer("msg_3", 2004, "stop"), parts: [part("prt_4", "msg_3", { type: "text", text: "Old answer" })] },
    ],
  };
}

test("a document becomes a session with its messages, calls, tokens and times", async () => {
  const { host, setup } = await setUpSession();
  const document = createDocument(setup.directory);
  const { session, applied, skipped, omitted } = await host.sessions.importDocument(document);
  expect(session).toMatchObject({
    id: SESSION,
    title: "An old session",
    agent: "build",
    model: { providerID: "scripted", id: "test" },
    cost: 0.5,
    tokens: { input: 20, output: 10, cache: { read: 4 } },
    time: { created: 1000, updated: 3000 },
  });
  expect(skipped).toBe(0);
  expect(omitted).toStrictEqual([
    { kind: "share", reason: expect.any(String) },
    { messageID: "msg_2", partID: "prt_2", kind: "step-start", reason: expect.any(String) },
  ]);
  const [prompt, call, answer] = await readMessages(host, SESSION);
  expect(prompt).toMatchObject({ id: "msg_1", type: "user", text: "Read a.txt", time: { created: 2000 } });
  expect(call).toMatchObject({
    id: "msg_2",
    finish: "tool-calls",
    content: [{ type: "tool", id: "call_1", name: "read", state: { status: "completed", input: { path: "a.txt" } } }],
  });
  expect(answer).toMatchObject({ id: "msg_3", cost: 0.25, content: [{ type: "text", text: "Old answer" }] });
  // A second import changes nothing.
  const again = await host.sessions.importDocument(document);
  expect(again).toStrictEqual({ session, applied: 0, skipped: applied, omitted });
});

test("the model receives the history of an imported session", async () => {
  const { host, setup, model } = await setUpSession();
  const { messages, info } = createDocument(setup.directory);
  await host.sessions.importDocument({ messages, info: { ...info, model: { providerID: "mock", id: "m1" } } });
  model.reply({ text: "New answer" });
  await run(host, SESSION, "And now?");
  const texts = JSON.stringify(model.requests.at(-1)?.body);
  for (const text of ["Read a.txt", "old content", "Old answer", "And now?"]) expect(texts).toContain(text);
  expect((await readMessages(host, SESSION)).at(-1)).toMatchObject({ content: [{ type: "text", text: "New answer" }] });
});

test("a document that differs from the imported one is a conflict, and changes nothing", async () => {
  const { host, setup } = await setUpSession();
  const document = createDocument(setup.directory);
  await host.sessions.importDocument(document);
  const before = await collect(host.sessions.export({ sessionID: SESSION }));
  const other = { ...document, info: { ...document.info, title: "Another title" } };
  await expect(rejection(host.sessions.importDocument(other))).resolves.toMatchObject({ _tag: "ConflictError" });
  await expect(collect(host.sessions.export({ sessionID: SESSION }))).resolves.toEqual(before);
});

test("a document that is not a session is refused with the reason, and stores nothing", async () => {
  const { host, setup } = await setUpSession();
  const { info, messages } = createDocument(setup.directory);
  for (const [wrong, message] of [
    [{ id: undefined }, /info\.id is missing/],
    [{ id: "other" }, /info\.id: Expected a string starting with "ses"/],
    [{ directory: 1 }, /info\.directory is missing/],
    [{ directory: "relative" }, /info\.directory: /],
    [{ time: {} }, /info\.time\.created is missing/],
    [{ parentID: "other" }, /info\.parentID: /],
    [{ permission: [{ permission: "*" }] }, /info\.permission: /],
  ] as const) {
    const document = { info: { ...info, ...wrong }, messages };
    await expect(rejection(host.sessions.importDocument(document))).resolves.toMatchObject({
      _tag: "InvalidRequestError",
      message: expect.stringMatching(message),
    });
  }
  await expect(rejection(host.sessions.get({ sessionID: SESSION }))).resolves.toMatchObject({
    _tag: "SessionNotFoundError",
  });
});

/** Writes a document in the layout of older versions. */
function writeFolder(storage: string, { info, messages }: SessionsImportDocumentInput) {
  const write = (file: string, value: unknown) => {
    mkdirSync(path.dirname(path.join(storage, file)), { recursive: true });
    writeFileSync(path.join(storage, file), typeof value === "string" ? value : JSON.stringify(value));
  };
  write(`session/global/${info.id}.json`, info);
  for (const message of messages) {
    write(`message/${info.id}/${message.info.id}.json`, message.info);
    for (const part of message.parts) write(`part/${message.info.id}/${part.id}.json`, part);
  }
  return write;
}

test("sessions that older versions stored as files are imported, each with its result", async () => {
  const { host, setup } = await setUpSession();
  const document = createDocument(setup.directory);
  const storage = path.join(setup.root, "storage");
  const write = writeFolder(storage, document);
  write("part/msg_3/prt_9.json", "{ not JSON");
  write("session/global/ses_broken.json", "[]");
  symlinkSync("/etc/hostname", path.join(storage, "session/global/ses_link.json"));
  const results = await collect(host.sessions.importFolder({ directory: storage }));
  expect(results).toStrictEqual([
    {
      path: path.join(storage, `session/global/${SESSION}.json`),
      imported: {
        session: await host.sessions.get({ sessionID: SESSION }),
        applied: expect.any(Number),
        skipped: 0,
        omitted: [
          { messageID: "msg_3", partID: "prt_9", kind: "file", reason: expect.stringContaining("is not JSON") },
          expect.objectContaining({ kind: "share" }),
          expect.objectContaining({ kind: "step-start" }),
        ],
      },
    },
    { path: path.join(storage, "session/global/ses_broken.json"), error: expect.any(Error) },
  ]);
  await expect(readMessages(host, SESSION)).resolves.toHaveLength(3);
  // The document of the same session gives the same events.
  await expect(host.sessions.importDocument(document)).resolves.toMatchObject({ applied: 0 });
});

test("a folder without sessions is refused, and one session can be selected", async () => {
  const { host, setup } = await setUpSession();
  const missing = collect(host.sessions.importFolder({ directory: path.join(setup.root, "nothing") }));
  await expect(rejection(missing)).resolves.toMatchObject({ _tag: "InvalidRequestError", field: "directory" });
  const storage = path.join(setup.root, "storage");
  writeFolder(storage, createDocument(setup.directory));
  const other = collect(host.sessions.importFolder({ directory: storage, sessionID: "ses_other" }));
  await expect(other).resolves.toEqual([]);
});
