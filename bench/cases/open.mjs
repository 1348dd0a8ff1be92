// Opens a host on a new file and creates a session in a running Node process: the first time in a process, again in the
// same process, and the memory that an open host adds.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { OpenCode } from "../../index.mjs";
import { options } from "../lib/host.mjs";
import { report, time } from "../lib/report.mjs";

const FIRST = "--first";
if (process.argv.includes(FIRST)) {
  const before = memory();
  console.log(JSON.stringify(await open(() => memory() - before)));
} else {
  const here = fileURLToPath(import.meta.url);
  const first = Array.from({ length: 9 }, () =>
    JSON.parse(execFileSync(process.execPath, ["--expose-gc", here, FIRST], { encoding: "utf8" })),
  );
  const again = [];
  for (let run = 0; run < 15; run++) again.push(await open(() => 0));
  report(
    "open and create a session, first in a process",
    "ms",
    first.map(({ ms }) => ms),
    { atMost: 50 },
  );
  report(
    "open and create a session, again",
    "ms",
    again.slice(1).map(({ ms }) => ms),
    { atMost: 50 },
  );
  report(
    "memory added by an open host",
    "MiB",
    first.map(({ added }) => added),
    { atMost: 25 },
  );
}

/** Opens a host, creates a session, and closes it. Calls `measure` while it is open. */
async function open(measure) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"));
  let host;
  const ms = await time(async () => {
    host = await OpenCode.create(options(root, root));
    await host.sessions.create();
  });
  const added = measure();
  await host.close();
  fs.rmSync(root, { recursive: true, force: true });
  return { ms, added };
}

/** Resident memory after a collection, in MiB. */
function memory() {
  globalThis.gc();
  return process.memoryUsage().rss / 1024 / 1024;
}
