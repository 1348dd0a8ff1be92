// A full and a read-only file system, for every kind of write.

import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { type Setup, setUp } from "../embedded/support";
import { Child } from "./child";

/** Mounts a small file system that is visible only to the program and its children. */
function withSmallDisk(place: string) {
  const mount = `mount -t tmpfs -o size=4m tmpfs '${place}' && exec "$0" "$@"`;
  return ["unshare", "--map-root-user", "--mount", "/bin/sh", "-c", mount];
}

/** False in containers that forbid mounts. Then only the limit of the file size is tested. */
function canMount() {
  const [command = "", ...args] = withSmallDisk("/tmp");
  return spawnSync(command, [...args, "true"]).status === 0;
}

/** Ignores SIGXFSZ, so that a write beyond the limit fails instead of killing the process. */
const LIMITED = ["/bin/sh", "-c", `trap '' XFSZ; exec "$0" "$@"`];

interface FaultOptions {
  readonly fault: "full" | "limited" | "read-only";
  readonly database?: string;
}

function start(setup: Setup, work: string, small: string, { fault, database = setup.database }: FaultOptions) {
  mkdirSync(small, { recursive: true });
  const options = setup.options({ database });
  return new Child("storage", { work, fault, small, options }, fault === "limited" ? LIMITED : withSmallDisk(small));
}

/** Runs a program whose database is on the small file system. */
function startOnSmall(setup: Setup, work: string, fault: FaultOptions["fault"]) {
  const small = path.join(setup.root, "small");
  return start(setup, work, small, { fault, database: path.join(small, "opencode.db") });
}

async function finish(child: Child) {
  const outcome = await child.printed("done");
  await expect(child.exited).resolves.toBe(0);
  return outcome;
}

const FAULTS = ["full", "read-only"] as const;

/** Checks the prompts of a database that could not be written for a while. */
async function expectPromptsKept(fault: FaultOptions["fault"]) {
  const setup = await setUp();
  setup.model.reply({ text: "Done." });
  const { acknowledged, ...outcome } = await finish(startOnSmall(setup, "prompts", fault));
  expect(outcome).toEqual({
    line: "done",
    refusal: "StorePoisonedError",
    again: "StorePoisonedError",
    readable: true,
    exported: acknowledged.length + 2,
    kept: acknowledged,
    outcome: "completed",
  });
  expect(acknowledged.length).toBeGreaterThan(0);
}

test("a database at its size limit refuses prompts, keeps the acknowledged ones, and works when it is opened again", () =>
  expectPromptsKept("limited"));

function tryOnSmallDisk() {
  test("a database on a full disk refuses prompts, keeps the acknowledged ones, and works when it is opened again", () =>
    expectPromptsKept("full"));

  test("interrupts a turn whose answer does not fit on the disk, and the session continues later", async () => {
    const setup = await setUp();
    const long = "x".repeat(6_000_000);
    setup.model.reply({ deltas: ["Once ", long], gate: "middle" }, { text: "Done." });
    const child = startOnSmall(setup, "turn", "full");
    await child.printed("full");
    setup.model.release("middle");
    const outcome = await finish(child);
    expect(outcome).toMatchObject({ interrupted: [true], outcome: "completed" });
    expect(outcome.error.data.message).toMatch(/database or disk is full.*close this host and open it again/);
    expect(outcome.types).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("an import without enough space records nothing, and succeeds when there is space", async () => {
    const outcome = await finish(startOnSmall(await setUp(), "import", "full"));
    // The creation of the session, and twenty prompts.
    expect(outcome).toMatchObject({ refusal: "StorePoisonedError", sessions: 0, applied: 21 });
  });

  test("an erasure without enough space changes nothing, the host continues, and the next one succeeds", async () => {
    const outcome = await finish(startOnSmall(await setUp(), "compact", "full"));
    expect(outcome).toEqual({
      line: "done",
      error: { tag: "ServiceUnavailableError", message: expect.stringContaining("no space for a second copy") },
      works: "",
      before: true,
      erased: true,
      after: false,
      kept: 700_000,
    });
  });

  test("does not open a database that cannot be written", async () => {
    const outcome = await finish(startOnSmall(await setUp(), "opening", "read-only"));
    expect(outcome).toMatchObject({ refusal: "DatabaseUnavailableError", again: "" });
  });

  test.each(FAULTS)("tools write nothing on a %s disk, and work afterwards", async (fault) => {
    const setup = await setUp();
    const big = "y".repeat(20_000);
    const added = `*** Add File: added.txt\n+${big}`;
    const updated = `*** Update File: old.txt\n@@\n-old 2\n+${big}`;
    const patchText = `*** Begin Patch\n${added}\n${updated}\n*** End Patch`;
    const tools = [
      { name: "write", input: { path: "new.txt", content: big } },
      { name: "write", input: { path: "a/b/new.txt", content: big } },
      { name: "edit", input: { path: "old.txt", oldString: "old 1", newString: big } },
      { name: "apply_patch", input: { patchText } },
    ];
    setup.model.reply({ tools: [{ name: "write", input: { path: "old.txt", content: "old 1\nold 2\n" } }] });
    setup.model.reply({ text: "Done." }, { tools }, { text: "Done." }, { tools }, { text: "Done." });
    const outcome = await finish(start(setup, "tools", setup.directory, { fault }));
    expect(outcome.before).toEqual({ "old.txt": "old 1\nold 2\n" });
    expect(outcome.during).toEqual(outcome.before);
    expect(outcome.withFault.tools.map(({ error }: { error: { message: string } }) => error.message)).toEqual([
      expect.stringMatching(/^Unable to write new\.txt: \w/),
      expect.stringMatching(/^Unable to write a\/b\/new\.txt: \w/),
      expect.stringMatching(/^Unable to edit old\.txt: \w/),
      expect.stringMatching(/^Unable to apply patch at (added|old)\.txt: \w/),
    ]);
    expect(outcome.later.tools).toEqual(tools.map(() => expect.objectContaining({ status: "completed" })));
    const files = { "new.txt": big, "a/b/new.txt": big, "old.txt": `${big}\n${big}\n`, "added.txt": `${big}\n` };
    expect(outcome.after).toEqual(files);
  });

  test.each(FAULTS)("a turn continues without stored outputs and snapshots on a %s disk", async (fault) => {
    const setup = await setUp();
    execFileSync("git", ["init", "--quiet", setup.directory]);
    const content = () => randomBytes(50_000).toString("hex");
    const tools = (name: string) => [
      { name: "bash", input: { command: "seq 1 30000" } },
      { name: "write", input: { path: name, content: content() } },
    ];
    setup.model.reply({ text: "Done." }, { tools: tools("one") }, { text: "Done." });
    setup.model.reply({ tools: tools("two") }, { text: "Done." });
    const outcome = await finish(start(setup, "tools", path.join(setup.root, ".local"), { fault }));
    expect(outcome.withFault).toMatchObject({
      outcome: "completed",
      tools: [{ status: "completed", outputPaths: [] }, { status: "completed" }],
      files: [null, null],
    });
    expect(outcome.withFault.tools[0].content[0].text).toMatch(/output truncated; the complete text could not be kept/);
    expect(outcome.warnings).toContain("opencode::tools: a tool output could not be kept");
    expect(outcome.warnings).toContain("opencode::runtime: a step goes on without a snapshot");
    expect(outcome.later).toMatchObject({
      outcome: "completed",
      tools: [{ status: "completed", outputPaths: [expect.stringContaining("tool-output")] }, { status: "completed" }],
      files: [["two"], []],
    });
  });

  test.each(FAULTS)(
    "a revert on a %s disk reports the files that it could not change, and succeeds afterwards",
    async (fault) => {
      const setup = await setUp();
      const first = randomBytes(50_000).toString("hex");
      const write = (text: string) => [{ name: "write", input: { path: "file.txt", content: text } }];
      setup.model.reply({ tools: write(first) }, { text: "Done." }, { tools: write("short") }, { text: "Done." });
      const outcome = await finish(start(setup, "revert", setup.directory, { fault }));
      expect(outcome.before).toEqual({ "file.txt": first });
      expect(outcome.changed).toEqual({ "file.txt": "short" });
      expect(outcome.during).toEqual(outcome.changed);
      expect(outcome.after).toEqual(outcome.before);
    },
  );
}

if (canMount()) tryOnSmallDisk();
