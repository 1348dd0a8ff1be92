import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync, writeSync, closeSync } from "node:fs";
import path from "node:path";
import { isDatabaseUnavailableError } from "../../index.js";
import { rejection } from "../client/support";
import { readTranscript, run, setUp, setUpSession, UNSCRIPTED } from "./support";

// Offsets of two numbers in the header of a SQLite file that its writer sets.
const USER_VERSION = 60;
const APPLICATION_ID = 68;

// On other systems the failure does not name the process.
const isLinux = process.platform === "linux";

/** A closed database with a changed number in its header. */
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

test("refuses a path that cannot be a file", async () => {
  const setup = await setUp();
  writeFileSync(path.join(setup.root, "file"), "");
  for (const database of [setup.directory, path.join(setup.root, "file", "x.db"), "/dev/null/x.db"]) {
    const error = await openingFails(setup, database);
    expect(isDatabaseUnavailableError(error)).toBe(true);
    expect(error.message).toContain(database);
  }
});

test("refuses a file that is not a database, and leaves it unchanged", async () => {
  const setup = await setUp();
  const text = "These are my notes, not a database.\n".repeat(100);
  writeFileSync(setup.database, text);
  await expect(openingFails(setup)).resolves.toMatchObject({ _tag: "DatabaseUnavailableError" });
  expect(readFileSync(setup.database, "utf8")).toBe(text);
});

test("refuses a database of a newer version, and leaves it unchanged", async () => {
  const setup = await setUpHeader(USER_VERSION, 1_000);
  const before = readFileSync(setup.database);
  const error = await openingFails(setup);
  expect(error).toMatchObject({ _tag: "DatabaseVersionError", message: expect.stringContaining("1000") });
  expect(readFileSync(setup.database).equals(before)).toBe(true);
});

test("refuses a database of another program, and leaves it unchanged", async () => {
  const setup = await setUpHeader(APPLICATION_ID, 0x1234);
  const before = readFileSync(setup.database);
  const error = await openingFails(setup);
  const message = expect.stringContaining("another program");
  expect(error).toMatchObject({ _tag: "DatabaseUnavailableError", message });
  expect(readFileSync(setup.database).equals(before)).toBe(true);
});

test("creates missing parent folders of the file", async () => {
  const setup = await setUp();
  const host = await setup.open({ database: path.join(setup.root, "a", "b", "c.db") });
  await expect(host.health.get()).resolves.toEqual({ healthy: true });
});

describe("a file that is open", () => {
  /** The other processes. A test that fails leaves none, because Jest would wait for them. */
  const children: ChildProcess[] = [];

  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  const inUse = { _tag: "DatabaseInUseError", message: expect.any(String) };

  test("is refused to a second host of this process, for every spelling of the path", async () => {
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
    // The first host keeps working. Its file is free after it has closed.
    await run(host, sessionID, "Hi");
    await host.close();
    const again = await setup.open();
    await expect(readTranscript(again, sessionID)).resolves.toEqual(["user: Hi", `assistant: ${UNSCRIPTED}`]);
  });

  test("is opened by one of two hosts that open it at once", async () => {
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

  test("is refused with the name of the process that has it open, and never of a process that has ended", async () => {
    const setup = await setUp();
    // The process refers to its host: one that nothing refers to is collected, and its file is free.
    const child = startElsewhere(setup.database, "setInterval(() => host, 1000), console.log('opened')");
    await once(child.stdout, "data");
    const name = path.basename(process.execPath);
    const error = await openingFails(setup);
    expect(error).toMatchObject(inUse);
    if (isLinux) expect(error.pid).toBe(child.pid);
    if (isLinux) expect(error.message).toContain(`is already open in the process ${child.pid} (${name});`);
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
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

  /** Starts a process that opens the file and then runs `then`, or prints why it cannot open it. */
  function startElsewhere(database: string, then: string) {
    const program = `
      const { OpenCode } = require(${JSON.stringify(path.resolve(__dirname, "../../index.js"))});
      OpenCode.create({ database: process.argv[1] }).then(
        async (host) => (${then}),
        (error) => console.log(error._tag),
      );`;
    const child = spawn(process.execPath, ["-e", program, database], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  }
});
