// The log entries that the documentation promises, if a test can cause them from outside.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { isStorePoisonedError, type LogEntry, type OpenCodeOptions } from "../../index.js";
import { rejection } from "../client/support";
import { recorder } from "./log-support";
import { readUntil, run, setUp, setUpSession, subscribe, type Setup } from "./support";

/** A host with a recorder of warnings, in a repository. It keeps its files in `data` beside the repository. */
async function setUpHost(prepare: (setup: Setup, data: string) => void, options?: OpenCodeOptions) {
  const setup = await setUp();
  const dataDirectory = path.join(setup.root, "data");
  execFileSync("git", ["init", "-q", setup.directory]);
  prepare(setup, dataDirectory);
  const record = recorder();
  const host = await setup.open({ dataDirectory, log: record.log, ...options });
  const { id: sessionID } = await host.sessions.create();
  const about = { sessionID, location: { directory: setup.directory } };
  return { setup, host, model: setup.model, sessionID, about, dataDirectory, ...record };
}

/** A recorder of all entries of some targets. */
function debugging(...targets: LogEntry["target"][]) {
  const record = recorder();
  const levels = Object.fromEntries(targets.map((target) => [target, "debug" as const]));
  return { ...record, log: { targets: levels, sink: record.log } };
}

/** Puts a file in the place of a folder. */
function obstruct(...place: string[]) {
  const file = path.join(...place);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "not a folder");
}

describe("opencode::store", () => {
  test("a database that is removed while it is open", async () => {
    const { setup, host, sessionID, waitForMessage } = await setUpHost(() => {});
    fs.rmSync(setup.database);
    const error = await rejection(host.sessions.prompt({ sessionID, prompt: { text: "Hi" } }));
    expect(isStorePoisonedError(error)).toBe(true);
    const entry = await waitForMessage("the database failed");
    expect(entry).toMatchObject({ level: "error", target: "opencode::store" });
    expect(entry.fields["reason"]).toContain("removed");
  });
});

describe("opencode::runtime", () => {
  test("outputs of tools that cannot be swept", async () => {
    const { waitForMessage, dataDirectory } = await setUpHost((_, data) => obstruct(data, "tool-output"));
    const entry = await waitForMessage("Managed Tool Output Files are not swept");
    expect(entry).toMatchObject({ level: "warn", target: "opencode::runtime" });
    expect(entry.fields["directory"]).toBe(path.join(dataDirectory, "tool-output"));
  });

  test("a step without a snapshot, with the reason", async () => {
    const { host, model, sessionID, about, waitForMessage } = await setUpHost((_, data) => obstruct(data, "embedded"));
    model.reply({ text: "Done." });
    await run(host, sessionID, "Go");
    const entry = await waitForMessage("a step goes on without a snapshot");
    expect(entry).toMatchObject({ level: "warn", target: "opencode::runtime", ...about });
    expect(entry.fields["error"]).toEqual(expect.any(String));
  });

  test("remote instructions that cannot be loaded, without the secrets of their address", async () => {
    const address = "http://user:hunter2@127.0.0.1:9/rules.md?token=hunter3";
    const { host, model, sessionID, entries, find } = await setUpHost(
      (setup) => setup.write("opencode.json", JSON.stringify({ instructions: [address] })),
      { trust: true },
    );
    model.reply({ text: "Done." });
    await run(host, sessionID, "Go");
    const entry = await find(({ message }) => message.startsWith("remote instructions cannot be loaded"));
    expect(entry.fields["address"]).toBe("http://127.0.0.1:9/rules.md");
    expect(JSON.stringify(entries)).not.toMatch(/hunter|token/);
  });

  test("the counts of debug.context, as details", async () => {
    const { log, waitForMessage } = debugging("opencode::runtime");
    const { host, model, sessionID, about } = await setUpHost(() => {}, { log });
    model.reply({ text: "Done." });
    await run(host, sessionID, "Go");
    const observed = await waitForMessage("the System Context was observed");
    expect(observed).toMatchObject({ level: "debug", ...about });
    expect(observed.fields).toMatchObject({ micros: expect.any(Number), missed: "[]" });
    await expect(waitForMessage("the model is told of its surroundings")).resolves.toMatchObject({
      level: "debug",
      ...about,
    });
  });
});

describe("opencode::snapshots", () => {
  test("a damaged list of captured files", async () => {
    const { host, setup, model, sessionID, waitForMessage, dataDirectory, log } = await setUpHost(() => {});
    setup.write("a.txt", "A");
    model.reply({ text: "Done." }, { text: "Done." });
    await run(host, sessionID, "Go");
    await host.close();
    const store = path.join(dataDirectory, "embedded", "snapshot");
    const lists = fs
      .readdirSync(store, { recursive: true, encoding: "utf8" })
      .filter((name) => /\/files-[^/]*$/.test(name));
    expect(lists).toHaveLength(1);
    fs.writeFileSync(path.join(store, lists[0]!), "x".repeat(100));
    const again = await setup.open({ dataDirectory, log });
    await run(again, sessionID, "Again");
    const entry = await waitForMessage("the list of captured files is damaged; all files are read again");
    const location = { directory: setup.directory };
    expect(entry).toMatchObject({ level: "warn", target: "opencode::snapshots", sessionID, location });
  });
});

describe("opencode::context", () => {
  test("a Context Source that is unavailable", async () => {
    const { host, sessionID, about, find } = await setUpHost(({ directory }) =>
      fs.mkdirSync(path.join(directory, "AGENTS.md")),
    );
    await run(host, sessionID, "Go");
    const entry = await find(({ target }) => target === "opencode::context");
    expect(entry).toMatchObject({
      level: "warn",
      message: expect.stringMatching(/^Context Source unavailable/),
      ...about,
    });
    expect(entry.fields["key"]).toEqual(expect.any(String));
  });
});

describe("opencode::location", () => {
  test("instructions behind a link that leads outside the project", async () => {
    const { host, model, sessionID, about, find, setup } = await setUpHost(({ root, directory }) => {
      fs.writeFileSync(path.join(root, "elsewhere.md"), "Be unkind.");
      fs.symlinkSync(path.join(root, "elsewhere.md"), path.join(directory, "AGENTS.md"));
    });
    model.reply({ text: "Done." });
    await run(host, sessionID, "Go");
    const entry = await find(({ message }) => message.startsWith("instructions are passed over"));
    expect(entry).toMatchObject({ level: "warn", target: "opencode::location", ...about });
    expect(entry.fields).toEqual({
      named: path.join(setup.directory, "AGENTS.md"),
      real: path.join(setup.root, "elsewhere.md"),
    });
  });

  test("an invalid configuration file, with its Location", async () => {
    const { find, setup, host } = await setUpHost((made) => made.write("opencode.json", '{ "model": 1 }'));
    await host.location.diagnostics();
    const entry = await find(({ message }) => message.startsWith("Configuration: "));
    const { directory } = setup;
    expect(entry).toMatchObject({ target: "opencode::location", location: { directory } });
    expect(entry.fields).toMatchObject({ path: path.join(directory, "opencode.json"), line: 1 });
  });
});

describe("opencode::llm", () => {
  test("requests to model servers and their failures, as details", async () => {
    const { log, waitForMessage } = debugging("opencode::llm");
    const { host, model, sessionID, about } = await setUpHost(() => {}, { log });
    model.reply({ text: "Done." }, { status: 400, body: { error: { message: "no" } } });
    await run(host, sessionID, "Go");
    const answered = await waitForMessage("a model server answers");
    expect(answered).toMatchObject({ level: "debug", target: "opencode::llm", ...about });
    expect(answered.fields["model"]).toEqual(expect.stringContaining("/"));
    await run(host, sessionID, "Go on").catch(() => {});
    const failed = await waitForMessage("a request to a model server failed");
    expect(failed).toMatchObject({ level: "debug", fields: { status: 400, error: expect.any(String) }, ...about });
  });
});

describe("opencode::tools", () => {
  test("an output that could not be stored", async () => {
    const { host, model, sessionID, about, waitForMessage } = await setUpHost((_, data) =>
      obstruct(data, "tool-output"),
    );
    model.reply({ tools: [{ name: "bash", input: { command: "seq 1 9000" } }] }, { text: "Done." });
    await run(host, sessionID, "Print much");
    const entry = await waitForMessage("a tool output could not be kept");
    expect(entry).toMatchObject({ level: "warn", target: "opencode::tools", ...about });
  });
});

describe("opencode::handlers", () => {
  test("a handler of permissions that throws", async () => {
    const { host, model, sessionID, find } = await setUpHost((setup) => setup.write(".env", "SECRET=1"), {
      permissions: { unanswered: { denyAfterMs: 1_000 } },
    });
    host.permissions.handle(() => {
      throw new Error("no answer");
    });
    model.reply({ tools: [{ name: "read", input: { path: ".env" } }] }, { text: "Done." });
    await run(host, sessionID, "Read it");
    const entry = await find(({ target }) => target === "opencode::handlers");
    expect(entry).toMatchObject({ level: "warn", message: expect.stringContaining("no answer"), sessionID });
  });
});

describe("opencode::server", () => {
  test("a reader of live events that is too slow", async () => {
    const { log, waitForMessage } = recorder();
    const { host, model } = await setUpSession({ log });
    const idle = await subscribe(host);
    // Together more bytes than may wait for a subscriber.
    for (let n = 0; n < 10; n += 1) {
      model.reply({ deltas: ["x".repeat(500_000), "y".repeat(500_000)] });
      const session = await host.sessions.create();
      await run(host, session.id, "Write a lot");
    }
    await rejection(readUntil(idle, "global.disposed"));
    const entry = await waitForMessage("a reader of live events was too slow and is cut off");
    expect(entry).toMatchObject({ level: "warn", target: "opencode::server" });
  });

  test("connections that break or do not speak HTTP, as details", async () => {
    const { log, entries, find } = debugging("opencode::server");
    const setup = await setUp();
    const host = await setup.open({ log });
    const { url } = await host.listen();
    const port = Number(new URL(url).port);
    const broken = ({ message }: LogEntry) => message === "a connection broke";
    const talk = net.connect(port, "127.0.0.1");
    talk.on("error", () => {}).end("\x16\x03\x01 this is not HTTP\r\n\r\n");
    await new Promise((resolve) => talk.resume().on("close", resolve));
    const first = await find(broken);
    expect(first).toMatchObject({ level: "debug", target: "opencode::server" });
    entries.length = 0;
    const half = net.connect(port, "127.0.0.1");
    half.on("error", () => {}).end("POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{");
    await find((entry) => broken(entry) || entry.message.includes("credentials"));
  });

  test("requests with wrong credentials, as details without their contents", async () => {
    const { log, entries, waitForMessage } = debugging("opencode::server");
    const setup = await setUp();
    const host = await setup.open({ log });
    const { url } = await host.listen();
    const headers = { authorization: `Basic ${Buffer.from("opencode:hunter2").toString("base64")}` };
    const { status } = await fetch(`${url}/api/session?auth_token=hunter3`, { headers });
    expect(status).toBe(401);
    const entry = await waitForMessage("a request without the right credentials was refused");
    expect(entry).toMatchObject({ level: "debug", fields: { path: "/api/session" } });
    expect(JSON.stringify(entries)).not.toContain("hunter");
    await fetch(`${url}/api/pty/pty_none/connect?ticket=hunter4`);
    await expect(waitForMessage("a connection to a terminal was refused")).resolves.toMatchObject({ level: "debug" });
    expect(JSON.stringify(entries)).not.toContain("hunter");
  });
});
