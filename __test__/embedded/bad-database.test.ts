import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync, writeSync, closeSync } from "node:fs";
import path from "node:path";
import { isDatabaseUnavailableError } from "../../index.js";
import { rejection } from "../client/support";
import { readTranscript, run, setUp, setUpSession, UNSCRIPTED } from "./support";

// Where the header of a SQLite file has two numbers of the program that wrote it.
const USER_VERSION = 60;
const APPLICATION_ID = 68;

// Elsewhere less is known of processes.
const isLinux = process.platform === "linux";

/** A closed database whose header says something else. */
async function setUpHeader(offset: number, value: number) {
  const { setup, host } = await setUpSession();
  await host.close();
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  const file = openSync(setup.database, "r+");
  writeSync(file, bytes, 0, 4, offset);
  closeSync(file);
  return setup;
}

async function openingFails(setup: Awaited<ReturnType<typeof setUp>>, database = setup.database) {
  const error = await rejection(setup.open({ database }));
  expect(error).toBeInstanceOf(Error);
  expect(Object.keys(error).filter((key) => key !== "pid")).toEqual(["_tag", "path", "message"]);
  expect(error.path).toBe(database);
  return error;
}

test("a path that cannot be a file", async () => {
  const setup = await setUp();
  writeFileSync(path.join(setup.root, "file"), "");
  for (const database of [setup.directory, path.join(setup.root, "file", "x.db"), "/dev/null/x.db"]) {
    const error = await openingFails(setup, database);
    expect(isDatabaseUnavailableError(error)).toBe(true);
    expect(error.message).toContain(database);
  }
});

test("a file that is no database is refused and left as it is", async () => {
  const setup = await setUp();
  const text = "These are my notes, not a database.\n".repeat(100);
  writeFileSync(setup.database, text);
  await expect(openingFails(setup)).resolves.toMatchObject({ _tag: "DatabaseUnavailableError" });
  expect(readFileSync(setup.database, "utf8")).toBe(text);
});

test("a database of a newer version is refused and left as it is", async () => {
  const setup = await setUpHeader(USER_VERSION, 1_000);
  const before = readFileSync(setup.database);
  const error = await openingFails(setup);
  expect(error).toMatchObject({ _tag: "DatabaseVersionError", message: expect.stringContaining("1000") });
  expect(readFileSync(setup.database).equals(before)).toBe(true);
});

test("a database of another program is refused and left as it is", async () => {
  const setup = await setUpHeader(APPLICATION_ID, 0x1234);
  const before = readFileSync(setup.database);
  const error = await openingFails(setup);
  const message = expect.stringContaining("another program");
  expect(error).toMatchObject({ _tag: "DatabaseUnavailableError", message });
  expect(readFileSync(setup.database).equals(before)).toBe(true);
});

test("folders on the way to the file are made", async () => {
  const setup = await setUp();
  const host = await setup.open({ database: path.join(setup.root, "a", "b", "c.db") });
  await expect(host.health.get()).resolves.toEqual({ healthy: true });
});

describe("a file that is open", () => {
  const inUse = { _tag: "DatabaseInUseError", message: expect.any(String) };

  test("is refused to a second host of this process, however it spells the path", async () => {
    const { setup, host, sessionID } = await setUpSession();
    const link = path.join(setup.root, "link.db");
    symlinkSync(setup.database, link);
    mkdirSync(path.join(setup.root, "sub"));
    for (const database of [setup.database, link]) {
      const error = await openingFails(setup, database);
      expect(error).toMatchObject(inUse);
      if (!isLinux) continue;
      expect(error.pid).toBe(process.pid);
      expect(error.message).toContain("is already open in another host of this process;");
    }
    const relative = path.relative(process.cwd(), setup.database);
    await expect(setup.open({ database: relative })).rejects.toMatchObject(inUse);
    // The first is not disturbed, and its file is free when it has closed.
    await run(host, sessionID, "Hi");
    await host.close();
    const again = await setup.open();
    await expect(readTranscript(again, sessionID)).resolves.toEqual(["user: Hi", `assistant: ${UNSCRIPTED}`]);
  });

  test("is refused to two that open it at once, but for one", async () => {
    const setup = await setUp();
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => setup.open()));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject(inUse);
  });

  test("is refused to another process", async () => {
    const { setup } = await setUpSession();
    await expect(tryElsewhere(setup.database)).resolves.toBe("DatabaseInUseError");
    const free = path.join(setup.root, "free.db");
    await expect(tryElsewhere(free)).resolves.toBe("opened");
  });

  test("names the process that has it open, and never one that has died", async () => {
    const setup = await setUp();
    const child = startElsewhere(setup.database, "setInterval(() => {}, 1000), console.log('opened')");
    await once(child.stdout, "data");
    const name = path.basename(process.execPath);
    const error = await openingFails(setup);
    expect(error).toMatchObject(inUse);
    if (isLinux) expect(error.pid).toBe(child.pid);
    if (isLinux) expect(error.message).toContain(`is already open in the process ${child.pid} (${name});`);
    const gone = once(child, "close");
    child.kill("SIGKILL");
    await gone;
    await setup.open();
    const own = await openingFails(setup);
    expect(own).toMatchObject(inUse);
    if (isLinux) expect(own.pid).toBe(process.pid);
  });

  async function tryElsewhere(database: string) {
    const child = startElsewhere(database, "await host.close(), console.log('opened')");
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    await once(child, "close");
    return output.trim();
  }

  /** A process that opens the file and goes on with `then`, or says why it cannot. */
  function startElsewhere(database: string, then: string) {
    const program = `
      const { OpenCode } = require(${JSON.stringify(path.resolve(__dirname, "../../index.js"))});
      OpenCode.create({ database: process.argv[1] }).then(
        async (host) => (${then}),
        (error) => console.log(error._tag),
      );`;
    return spawn(process.execPath, ["-e", program, database], { stdio: ["ignore", "pipe", "inherit"] });
  }
});
