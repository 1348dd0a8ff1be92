// The memory of a host with 100 idle sessions of 5,000 messages, each compacted and prompted once after the file was
// opened, minus the memory of a host without sessions.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openHost, reopenHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { admit } from "../lib/pending.mjs";
import { report } from "../lib/report.mjs";

const SESSIONS = 100;
const MESSAGES = 5000;
const MEASURE = "--measure";

if (process.argv[2] === MEASURE) await measure(process.argv[3], JSON.parse(process.argv[4]));
else await compare();

async function compare() {
  const model = await startSteadyModel({ text: "Done." });
  const config = { ...model.config, compaction: { keep: { tokens: 100 } } };
  const { host, root, close } = await openHost(config);
  for (let number = 0; number < SESSIONS; number++) {
    const { id: sessionID } = await host.sessions.create();
    // The prompt that wakes the session, and the answer, are two of the messages.
    await admit(host, sessionID, MESSAGES - 2);
    await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    await host.sessions.wait({ sessionID });
    await host.sessions.compact({ sessionID });
  }
  await host.close();
  // In another process, which has not created the sessions.
  const here = fileURLToPath(import.meta.url);
  const measuring = [here, MEASURE, root, JSON.stringify(config)];
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", ...measuring]);
  report(`memory added by ${SESSIONS} idle sessions of 5,000 messages`, "MiB", [Number(stdout)], { atMost: 60 });
  await close();
  await model.close();
}

async function measure(root, config) {
  const empty = await openHost(config);
  await ask(empty.host, (await empty.host.sessions.create()).id);
  const before = memory();
  await empty.close();
  const host = await reopenHost(root, config);
  const { items } = await host.sessions.list({ limit: SESSIONS });
  for (const { id } of items) await ask(host, id);
  console.log(memory() - before);
  await host.close();
}

async function ask(host, sessionID) {
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  await host.sessions.wait({ sessionID });
}

/** Resident memory after a collection, in MiB. */
function memory() {
  globalThis.gc();
  return process.memoryUsage().rss / 1024 / 1024;
}
