// The signals of functions that answer requests. They abort if the request ends in another way.

import { mkdirSync } from "node:fs";
import path from "node:path";
import type { LogEntry, OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { rejection } from "../client/support";
import { script, setUpTerminals } from "./pty-support";
import { setUp, setUpSession } from "./support";

const READ_SECRET = { tools: [{ name: "read", input: { path: ".env" }, id: "c1" }] };
const QUESTION = { question: "Which colour?", header: "Colour", options: [{ label: "Red", description: "warm" }] };
const ASK = { tools: [{ name: "question", input: { questions: [QUESTION] }, id: "c1" }] };

interface Asked {
  /** The id of the request, or an empty text if it has none. */
  readonly id: string;
  readonly signal: AbortSignal;
  readonly answer: (answer: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** A function whose answer the test gives later. */
class Dialog {
  readonly #asked: Asked[] = [];
  #wake = () => {};

  readonly ask = (request: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((resolve, fail) => {
      const id = String((request as { id?: string }).id ?? "");
      this.#asked.push({ id, signal, answer: resolve as (answer: unknown) => void, fail });
      this.#wake();
    });

  async next() {
    while (this.#asked.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#asked.shift()!;
  }
}

function aborted(signal: AbortSignal) {
  return new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

type Kind = "permissions" | "questions";

/** A session that has created a request, and the dialog that received it. */
async function asking(kind: Kind, options?: OpenCodeOptions) {
  const { setup, host, model, sessionID } = await setUpSession({ log: undefined, ...options });
  setup.write(".env", "SECRET=1");
  model.reply(kind === "permissions" ? READ_SECRET : ASK, { text: "Done." });
  const dialog = new Dialog();
  const registration = host[kind].handle(dialog.ask);
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  const asked = await dialog.next();
  return { setup, host, model, sessionID, dialog, registration, asked };
}

const ANSWER = { permissions: "once", questions: [["Red"]] };

function answerElsewhere(host: OpenCodeHost, kind: Kind, sessionID: string, requestID: string) {
  if (kind === "questions") return host.questions.reply({ sessionID, requestID, answers: [["Blue"]] });
  return host.permissions.reply({ sessionID, requestID, reply: "reject", message: "no" });
}

/** Waits until earlier messages to the host have arrived. */
async function settle(host: OpenCodeHost) {
  await host.health.get();
  await host.health.get();
}

afterEach(() => jest.restoreAllMocks());

describe.each<Kind>(["permissions", "questions"])("the signal of %s", (kind) => {
  test("aborts when another client answers, and a late answer has no effect", async () => {
    const { host, model, sessionID, asked } = await asking(kind);
    const warn = jest.spyOn(process, "emitWarning");
    expect(asked.signal.aborted).toBe(false);
    await answerElsewhere(host, kind, sessionID, asked.id);
    await aborted(asked.signal);
    const reply = jest.spyOn(host[kind], "reply");
    asked.answer(ANSWER[kind]);
    await host.sessions.wait({ sessionID });
    await settle(host);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain(kind === "questions" ? "Blue" : ".env: no");
    expect(reply).not.toHaveBeenCalled();
    expect(warn).not.toHaveBeenCalled();
  });

  test("aborts when the session is interrupted, and a later rejection causes no warning", async () => {
    const { host, sessionID, asked } = await asking(kind);
    const warn = jest.spyOn(process, "emitWarning");
    await host.sessions.interrupt({ sessionID });
    await aborted(asked.signal);
    asked.fail(asked.signal.reason);
    await settle(host);
    expect(warn).not.toHaveBeenCalled();
  });

  test("aborts when the request times out", async () => {
    const { host, sessionID, asked } = await asking(kind, { permissions: { unanswered: { denyAfterMs: 20 } } });
    await aborted(asked.signal);
    await host.sessions.wait({ sessionID });
  });

  test("aborts when the host closes", async () => {
    const { host, asked } = await asking(kind);
    const warn = jest.spyOn(process, "emitWarning");
    const abort = aborted(asked.signal);
    await host.close();
    await abort;
    asked.answer(ANSWER[kind]);
    await Promise.resolve();
    expect(warn).not.toHaveBeenCalled();
  });

  test("aborts when the function is disposed, and the request stays open for clients", async () => {
    const { host, sessionID, registration, asked } = await asking(kind);
    registration.dispose();
    expect(asked.signal.aborted).toBe(true);
    asked.answer(ANSWER[kind]);
    await settle(host);
    expect(await host[kind].list({ sessionID })).toMatchObject([{ id: asked.id }]);
    const later = new Dialog();
    host[kind].handle(later.ask);
    const again = await later.next();
    expect(again.id).toBe(asked.id);
    again.answer(ANSWER[kind]);
    await host.sessions.wait({ sessionID });
  });

  test("does not abort after the answer of the function", async () => {
    const { host, sessionID, asked } = await asking(kind);
    asked.answer(ANSWER[kind]);
    await host.sessions.wait({ sessionID });
    await settle(host);
    expect(asked.signal.aborted).toBe(false);
  });

  test("aborts for a function that has passed the request on", async () => {
    const { setup, host, model, sessionID } = await setUpSession({ log: undefined });
    setup.write(".env", "SECRET=1");
    model.reply(kind === "permissions" ? READ_SECRET : ASK, { text: "Done." });
    const [answering, showing] = [new Dialog(), new Dialog()];
    host[kind].handle(answering.ask);
    host[kind].handle(showing.ask);
    await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    const shown = await showing.next();
    shown.answer(undefined);
    const asked = await answering.next();
    expect(shown.signal.aborted).toBe(false);
    asked.answer(ANSWER[kind]);
    await aborted(shown.signal);
    await host.sessions.wait({ sessionID });
    expect(asked.signal.aborted).toBe(false);
  });

  test("aborts after another client's answer, and no further function is called", async () => {
    const { setup, host, model, sessionID } = await setUpSession({ log: undefined });
    setup.write(".env", "SECRET=1");
    model.reply(kind === "permissions" ? READ_SECRET : ASK, { text: "Done." });
    const [never, first] = [jest.fn(() => undefined), new Dialog()];
    host[kind].handle(never);
    host[kind].handle(first.ask);
    await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    const asked = await first.next();
    await answerElsewhere(host, kind, sessionID, asked.id);
    await aborted(asked.signal);
    asked.answer(undefined);
    await host.sessions.wait({ sessionID });
    await settle(host);
    expect(never).not.toHaveBeenCalled();
  });
});

describe("the signal of ptys.environment", () => {
  test("aborts when the caller aborts, and when the host closes", async () => {
    const { host } = await setUpTerminals({ log: undefined });
    const warn = jest.spyOn(process, "emitWarning");
    const dialog = new Dialog();
    host.ptys.environment(dialog.ask);
    const controller = new AbortController();
    const first = rejection(host.ptys.create(script("true"), { signal: controller.signal }));
    const asked = await dialog.next();
    controller.abort();
    await first;
    await aborted(asked.signal);
    asked.answer({});
    const second = rejection(host.ptys.create(script("true")));
    const open = await dialog.next();
    const abort = aborted(open.signal);
    await host.close();
    await abort;
    open.fail(open.signal.reason);
    await second;
    expect(warn).not.toHaveBeenCalled();
  });

  test("aborts after ten seconds, also if the function was disposed", async () => {
    const { host } = await setUpTerminals();
    const dialog = new Dialog();
    const registration = host.ptys.environment(dialog.ask);
    const refused = rejection(host.ptys.create(script("true")));
    const asked = await dialog.next();
    registration.dispose();
    expect(asked.signal.aborted).toBe(false);
    await aborted(asked.signal);
    expect(await refused).toMatchObject({ message: expect.stringContaining("within 10 seconds") });
  });

  test("aborts when another function fails, and does not abort after an answer", async () => {
    const { host } = await setUpTerminals();
    const [one, two] = [new Dialog(), new Dialog()];
    const registrations = [host.ptys.environment(one.ask), host.ptys.environment(two.ask)];
    const refused = rejection(host.ptys.create(script("true")));
    const waiting = await one.next();
    (await two.next()).fail(new Error("no token"));
    await aborted(waiting.signal);
    expect(await refused).toMatchObject({ message: expect.stringContaining("no token") });
    registrations[1]!.dispose();
    const created = host.ptys.create(script("true"));
    const answered = await one.next();
    answered.answer({});
    await created;
    await settle(host);
    expect(answered.signal.aborted).toBe(false);
  });
});

describe("the signal of trust", () => {
  async function deciding() {
    const setup = await setUp();
    const dialog = new Dialog();
    const complaints: LogEntry[] = [];
    const log = (entry: LogEntry) => void (entry.target === "opencode::handlers" && complaints.push(entry));
    const host = await setup.open({ log, trust: dialog.ask });
    return { setup, host, dialog, complaints };
  }

  test("aborts when location.trust decides, and a late answer has no effect", async () => {
    const { setup, host, dialog, complaints } = await deciding();
    setup.write("opencode.json", JSON.stringify({ shell: "/bin/false" }));
    const diagnostics = host.location.diagnostics();
    const asked = await dialog.next();
    await host.location.trust({ trusted: false });
    await aborted(asked.signal);
    asked.answer(true);
    expect((await diagnostics).data).toHaveLength(1);
    expect((await host.location.diagnostics()).data).toHaveLength(1);
    await host.close();
    expect(complaints).toEqual([]);
  });

  test("aborts when the host closes, and does not abort after an answer", async () => {
    const { setup, host, dialog, complaints } = await deciding();
    const diagnostics = host.location.diagnostics();
    const answered = await dialog.next();
    answered.answer(true);
    await diagnostics;
    const other = path.join(setup.root, "other");
    mkdirSync(other);
    const refused = Promise.allSettled([host.location.diagnostics({ location: { directory: other } })]);
    const asked = await dialog.next();
    const abort = aborted(asked.signal);
    await host.close();
    await abort;
    asked.fail(asked.signal.reason);
    await refused;
    expect(answered.signal.aborted).toBe(false);
    expect(complaints).toEqual([]);
  });
});
