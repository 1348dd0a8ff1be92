// The log of a host: the entries that reach the program, and the actions that a sink may take.

import { runInNewContext } from "node:vm";
import fs from "node:fs";
import { isInvalidOptionError, OpenCode, type OpenCodeOptions } from "../../index.js";
import { rejection } from "../client/support";
import { recorder } from "./log-support";
import { run, setUp, setUpSession } from "./support";

const KEY = "sk-never-in-the-log-4711";

/** Hides and records the warnings of the process. */
function watchWarnings() {
  return jest.spyOn(process, "emitWarning").mockImplementation(() => {});
}

/** A session whose only turn fails, which the host logs. */
async function failing(options: OpenCodeOptions) {
  const started = await setUpSession(options);
  started.model.reply({ status: 400, body: { error: { message: `the key ${KEY} is not good` } } });
  return started;
}

afterEach(() => jest.restoreAllMocks());

test("a failed Session Drain is logged with its session and without secrets", async () => {
  const { entries, find, log } = recorder();
  const { host, model, sessionID } = await setUpSession({ log, env: { ...process.env, OTHER_API_KEY: KEY } });
  model.reply({ status: 400, body: { error: { message: `the key ${KEY} is not good` } } });
  await run(host, sessionID, "Go").catch(() => {});
  const entry = await find(({ message }) => message === "the Session Drain failed");
  expect(entry).toMatchObject({ level: "warn", target: "opencode::runtime", sessionID });
  expect(Math.abs(entry.time - Date.now())).toBeLessThan(60_000);
  expect(entry.fields.error).toContain("<redacted>");
  expect(JSON.stringify(entries)).not.toContain(KEY);
});

test("hosts of one process have separate logs", async () => {
  const [one, other] = [recorder(), recorder()];
  const first = await failing({ log: one.log });
  const second = await failing({ log: other.log });
  await Promise.all([first, second].map(({ host, sessionID }) => run(host, sessionID, "Go").catch(() => {})));
  await Promise.all([first.host.close(), second.host.close()]);
  const sessions = ({ entries }: typeof one) => new Set(entries.flatMap(({ sessionID }) => sessionID ?? []));
  expect(sessions(one)).toEqual(new Set([first.sessionID]));
  expect(sessions(other)).toEqual(new Set([second.sessionID]));
});

test("closing delivers all entries before it resolves", async () => {
  const { entries, log } = recorder();
  const { host, sessionID } = await failing({ log });
  await run(host, sessionID, "Go").catch(() => {});
  await host.close();
  expect(entries.map(({ message }) => message)).toContain("the Session Drain failed");
});

test("accepts one level for all targets, or one per target", async () => {
  const { entries, log: sink } = recorder();
  const { host, sessionID } = await failing({ log: { level: "off", targets: { "opencode::store": "debug" }, sink } });
  await run(host, sessionID, "Go").catch(() => {});
  await host.close();
  expect(entries.filter(({ target }) => target !== "opencode::store")).toEqual([]);
});

test("logs an invalid configuration file", async () => {
  const { entries, log } = recorder();
  const setup = await setUp();
  setup.write("opencode.json", '{ "modle": 1 }');
  const host = await setup.open({ log, trust: true });
  await host.location.diagnostics();
  await host.close();
  expect(entries).toContainEqual(
    expect.objectContaining({ level: "warn", target: "opencode::location", message: expect.stringMatching(/^Config/) }),
  );
});

test("logs the details of a failure under its reference", async () => {
  const { find, log } = recorder();
  const { host, sessionID, setup } = await setUpSession({ log });
  // The host moves the write-ahead log into the file when the log is this large, and then needs the file.
  for (let count = 0; count < 300; count++) {
    await host.sessions.update({ sessionID, title: `${"x".repeat(1000)}${count}` });
  }
  fs.truncateSync(setup.database, 0);
  // The first read finds the damage.
  await rejection(host.sessions.get({ sessionID }));
  const error: any = await rejection(host.sessions.messages({ sessionID }));
  expect(error.ref).toMatch(/^err_/);
  const entry = await find(({ fields }) => fields.reference === error.ref);
  expect(entry).toMatchObject({ level: "error", target: "opencode::server" });
});

test("emits grave entries as warnings of the process if the option is absent, each message once", async () => {
  const warned = watchWarnings();
  const { host, model, sessionID } = await setUpSession({ log: undefined });
  for (const text of ["One", "Two"]) {
    model.reply({ status: 400, body: { error: { message: "no" } } });
    await run(host, sessionID, text).catch(() => {});
  }
  await host.close();
  const matching = warned.mock.calls.filter(([message]) => message === "the Session Drain failed");
  const detail = expect.stringContaining(`sessionID="${sessionID}"`);
  expect(matching).toEqual([[expect.any(String), { type: "OpenCodeWarning", code: "OPENCODE_LOG", detail }]]);
});

test("the level off logs nothing", async () => {
  const warned = watchWarnings();
  const { host, sessionID } = await failing({ log: "off" });
  await run(host, sessionID, "Go").catch(() => {});
  await host.close();
  expect(warned).not.toHaveBeenCalled();
});

test("a sink that throws or rejects loses only its own entries, and the process is warned once", async () => {
  for (const log of [
    () => {
      throw new Error("full");
    },
    async () => {
      throw new Error("full");
    },
    // A promise of another realm.
    runInNewContext("async () => { throw new Error('full'); }"),
  ]) {
    const warned = watchWarnings();
    const { host, model, sessionID } = await failing({ log });
    await run(host, sessionID, "Go").catch(() => {});
    model.reply({ status: 400, body: { error: { message: "no" } } }, { text: "Done." });
    await run(host, sessionID, "Again").catch(() => {});
    await host.close();
    const failure = 'The function of the option "log" failed and loses entries: Error: full';
    expect(warned.mock.calls).toEqual([[failure, { type: "OpenCodeWarning", code: "OPENCODE_LOG_SINK" }]]);
    jest.restoreAllMocks();
  }
});

test("a sink may call the host and close it", async () => {
  const closed: Promise<void>[] = [];
  const { host, sessionID } = await failing({ log: () => void closed.push(host.close()) });
  await run(host, sessionID, "Go").catch(() => {});
  await host.close();
  expect(closed.length).toBeGreaterThan(0);
  await Promise.all(closed);
});

test("refuses an invalid option by name", async () => {
  for (const [log, option] of [
    [1, "log"],
    ["loud", "log"],
    [new Date(), "log"],
    [{ level: "loud" }, "log.level"],
    [{ sink: 1 }, "log.sink"],
    [{ targets: { "opencode::stor": "warn" } }, "log.targets.opencode::stor"],
    [{ targets: { "opencode::store": 1 } }, "log.targets.opencode::store"],
  ]) {
    const error = await rejection(OpenCode.create({ log } as OpenCodeOptions));
    expect(isInvalidOptionError(error) && error.option).toBe(option);
  }
});

test("logs functions of the program that fail", async () => {
  const { entries, log } = recorder();
  const setup = await setUp();
  const host = await setup.open({
    log,
    trust: () => {
      throw new Error("no decision");
    },
    ptyEnvironment: () => {
      throw new Error("no variables");
    },
  });
  const { id: sessionID } = await host.sessions.create();
  await rejection(host.ptys.create({ command: "true" }));
  setup.model.reply({ text: "Done." });
  await run(host, sessionID, "Go");
  await host.close();
  const matching = entries.filter(({ target }) => target === "opencode::handlers");
  const location = { directory: setup.directory };
  expect(matching).toContainEqual(
    expect.objectContaining({ level: "warn", message: expect.stringContaining("no decision"), location }),
  );
  expect(matching).toContainEqual(
    expect.objectContaining({ level: "warn", message: expect.stringContaining("no variables"), location }),
  );
});
