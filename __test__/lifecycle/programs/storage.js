"use strict";

// Works on a small file system that is full or read-only for a while.

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { OpenCode } = require("../../../index.js");
const { input, open, print } = require("./support.js");

/** @typedef {import("../../../index.js").OpenCodeHost} Host */

const ballast = path.join(input.small, "ballast");

/** Fills the file system to its last byte. */
function fill() {
  const file = fs.openSync(ballast, "a");
  for (const bytes of [65_536, 4096, 1]) {
    try {
      for (;;) fs.writeSync(file, Buffer.alloc(bytes));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOSPC") throw error;
    }
  }
  fs.closeSync(file);
}

/** Limits the size of every file that this process writes. @param {string} bytes */
function limitFiles(bytes) {
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}`]);
}

/** @type {Record<string, { begin(): void, end(): void }>} */
const faults = {
  full: { begin: fill, end: () => fs.rmSync(ballast) },
  limited: {
    begin: () => limitFiles("0:"),
    end: () => limitFiles("unlimited:"),
  },
  "read-only": {
    begin: () => execFileSync("mount", ["-o", "remount,ro", input.small]),
    end: () => execFileSync("mount", ["-o", "remount,rw", input.small]),
  },
};
const fault = /** @type {typeof faults[string]} */ (faults[input.fault]);

/** @param {Promise<unknown>} call */
async function tagOf(call) {
  try {
    await call;
    return "";
  } catch (error) {
    return /** @type {{ _tag: string }} */ (error)._tag;
  }
}

/** @param {Host} host @param {string} sessionID */
async function readMessages(host, sessionID) {
  const { items } = await host.sessions.messages({ sessionID, limit: 100, order: "asc" });
  return items;
}

/** The results of the calls of a session's last prompt. @param {Host} host @param {string} sessionID */
async function runTools(host, sessionID) {
  const { outcome } = await host.sessions.run({ sessionID, prompt: { text: "Work" } }).result;
  const messages = await readMessages(host, sessionID);
  const last = messages.slice(messages.findLastIndex(({ type }) => type === "user"));
  const parts = last.flatMap((message) => (message.type === "assistant" ? message.content : []));
  const tools = parts.flatMap((part) => (part.type === "tool" ? [part.state] : []));
  const steps = last.flatMap((message) => (message.type === "assistant" ? [message] : []));
  return { outcome, tools, files: steps.map(({ snapshot }) => snapshot?.files ?? null) };
}

/** @param {Host} host @param {string} sessionID */
async function readExport(host, sessionID) {
  const lines = [];
  for await (const line of host.sessions.export({ sessionID })) lines.push(line);
  return lines;
}

/** Every file below the project, with its content. */
function readProject() {
  const { directory } = input.options;
  const names = /** @type {string[]} */ (fs.readdirSync(directory, { recursive: true }));
  const files = names.filter(
    (name) => !/ballast|^\.git/.test(name) && fs.statSync(path.join(directory, name)).isFile(),
  );
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(directory, name), "utf8")]));
}

/** @type {Record<string, () => Promise<object>>} */
const cases = {
  /** Prompts until the file is full, then returns the prompts that exist after the next opening. */
  async prompts() {
    const host = await open();
    const { id: sessionID } = await host.sessions.create();
    /** @type {string[]} */
    const acknowledged = [];
    const admit = async () => {
      const prompt = { text: "x".repeat(20_000) };
      const { id } = await host.sessions.prompt({ sessionID, prompt, resume: false });
      acknowledged.push(id);
    };
    await admit();
    fault.begin();
    let refusal = "";
    while (refusal === "") refusal = await tagOf(admit());
    const again = await tagOf(host.sessions.create());
    const readable = (await host.sessions.inbox.list({ sessionID })).length === acknowledged.length;
    const lines = await readExport(host, sessionID);
    await host.close();
    fault.end();
    const next = await open();
    const kept = (await next.sessions.inbox.list({ sessionID })).map(({ id }) => id);
    const { outcome } = await next.sessions.run({ sessionID, prompt: { text: "Go on" } }).result;
    await next.close();
    return { refusal, again, readable, exported: lines.length, acknowledged, kept, outcome };
  },

  /** An erasure for which the disk has no space, and the same erasure when it has. */
  async compact() {
    const host = await open();
    /** @param {string} letter @param {number} bytes */
    const fillSession = async (letter, bytes) => {
      const { id: sessionID } = await host.sessions.create();
      await host.sessions.prompt({ sessionID, prompt: { text: letter.repeat(bytes) }, resume: false });
      return sessionID;
    };
    const kept = await fillSession("k", 700_000);
    const removed = await fillSession("needle-", 30_000);
    await host.close();
    const next = await open();
    fault.begin();
    fs.truncateSync(ballast, fs.statSync(ballast).size - 300_000);
    await next.sessions.remove({ sessionID: removed });
    let error;
    await next.storage.compact().catch((caught) => (error = { tag: caught._tag, message: caught.message }));
    const works = await tagOf(next.sessions.update({ sessionID: kept, title: "Works" }));
    const before = fs.readFileSync(input.options.database).includes("needle-");
    fault.end();
    const { erased } = await next.storage.compact();
    const after = fs.readFileSync(input.options.database).includes("needle-");
    const [prompt] = await next.sessions.inbox.list({ sessionID: kept });
    await next.close();
    return { error, works, before, erased, after, kept: prompt?.prompt.text.length };
  },

  /** A turn whose answer cannot be stored. */
  async turn() {
    const host = await open();
    const { id: sessionID } = await host.sessions.create();
    const live = host.events.subscribe()[Symbol.asyncIterator]();
    await host.sessions.prompt({ sessionID, prompt: { text: "Tell" } });
    const types = [];
    const readUntil = async (/** @type {string} */ type) => {
      for (;;) {
        const { value } = await live.next();
        types.push(value.type);
        if (value.type === type) return value;
      }
    };
    await readUntil("session.next.text.delta");
    fault.begin();
    print("full");
    const { data } = await readUntil("session.error");
    await host.sessions.wait({ sessionID });
    await host.close();
    fault.end();
    const next = await open();
    const interrupted = (await next.sessions.interrupted()).map(({ sessionID: id }) => id === sessionID);
    const { outcome } = await next.sessions.run({ sessionID, prompt: { text: "Go on" } }).result;
    const messages = await readMessages(next, sessionID);
    await next.close();
    return { error: data.error, interrupted, outcome, types: messages.map(({ type }) => type) };
  },

  /** An import for which the file has no room, and the same import when it has. */
  async import() {
    const source = await OpenCode.create({ ...input.options, database: ":memory:" });
    const { id: sessionID } = await source.sessions.create();
    for (let prompt = 0; prompt < 20; prompt++) {
      await source.sessions.prompt({ sessionID, prompt: { text: "x".repeat(50_000) }, resume: false });
    }
    const lines = await readExport(source, sessionID);
    await source.close();
    const host = await open();
    fault.begin();
    const refusal = await tagOf(host.sessions.import(lines));
    await host.close();
    fault.end();
    const next = await open();
    const { items } = await next.sessions.list();
    const { applied } = await next.sessions.import(lines);
    await next.close();
    return { refusal, sessions: items.length, applied };
  },

  /** Opens a host on a file that cannot be written. */
  async opening() {
    await open().then((host) => host.close());
    fault.begin();
    const refusal = await tagOf(open().then((host) => host.close()));
    fault.end();
    const again = await tagOf(open().then((host) => host.close()));
    return { refusal, again };
  },

  /** A revert for whose files there is no room, and the same revert when there is. */
  async revert() {
    execFileSync("git", ["init", "--quiet", input.options.directory]);
    const host = await open();
    const { id: sessionID } = await host.sessions.create();
    await runTools(host, sessionID);
    const before = readProject();
    await runTools(host, sessionID);
    const changed = readProject();
    const messages = await readMessages(host, sessionID);
    const messageID = /** @type {{ id: string }} */ (messages.findLast(({ type }) => type === "user")).id;
    fault.begin();
    const staged = await host.sessions.revert.stage({ sessionID, messageID });
    const during = readProject();
    fault.end();
    await host.sessions.revert.clear({ sessionID });
    await host.sessions.revert.stage({ sessionID, messageID });
    const after = readProject();
    await host.close();
    return { before, changed, staged, during, after };
  },

  /** Runs tools during the disturbance, then without it. */
  async tools() {
    /** @type {string[]} */
    const warnings = [];
    const log = (/** @type {import("../../../index.js").LogEntry} */ { level, target, message }) => {
      if (level === "warn" || level === "error") warnings.push(`${target}: ${message}`);
    };
    const host = await OpenCode.create({ ...input.options, log });
    const { id: sessionID } = await host.sessions.create();
    await runTools(host, sessionID);
    const before = readProject();
    fault.begin();
    const withFault = await runTools(host, sessionID);
    const during = readProject();
    fault.end();
    const later = await runTools(host, sessionID);
    await host.close();
    return { before, withFault, during, later, after: readProject(), warnings };
  },
};

async function main() {
  const work = /** @type {() => Promise<object>} */ (cases[input.work]);
  print("done", await work());
}

void main();
