// The measured process. Its plan is JSON: {turns, sessions, hosts}.

import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { OpenCode } from "../../index.mjs";
import { growing, growingTurns, measure } from "./measure.mjs";

/** @typedef {import("./measure.mjs").Sample} Sample */

/** Number of samples of each phase. */
const SAMPLES = 20;

/** Number of sessions that work at the same time. */
const AT_ONCE = 4;

/** @type {{ turns: number, sessions: number, hosts: number }} */
const plan = JSON.parse(process.argv[2] ?? "");
const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-soak-"));
const project = path.join(root, "project");
makeProject();
const model = fork(new URL("./model.mjs", import.meta.url));
const [baseURL] = await once(model, "message");
const models = { m1: { limit: { context: 100_000_000, output: 8_000 } } };
const mock = { npm: "@ai-sdk/openai-compatible", options: { baseURL, apiKey: "secret" }, models };
const config = { model: "mock/m1", provider: { mock } };

/** A project that is large enough to be watched for snapshots. */
function makeProject() {
  for (let file = 0; file < 1500; file++) {
    const folder = path.join(project, `folder-${file % 15}`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `file-${file}.txt`), `File ${file}\n`);
  }
  execFileSync("git", ["init", "--quiet", project]);
}

/** @param {string} database */
function open(database) {
  return OpenCode.create({ directory: project, database, home: root, env: {}, config, log: "error" });
}

/**
 * Runs some turns in a new session.
 *
 * @param {import("../../index.mjs").OpenCodeHost} host
 * @param {number} turns
 */
async function runSession(host, turns) {
  const { id: sessionID } = await host.sessions.create();
  for (let turn = 0; turn < turns; turn++) {
    await host.sessions.prompt({ sessionID, prompt: { text: `Prompt ${turn}` } });
    await host.sessions.wait({ sessionID });
  }
  const messages = await host.sessions.messages({ sessionID });
  if (JSON.stringify(messages).includes('"error"'))
    throw new Error(`A turn of ${sessionID} failed: ${JSON.stringify(messages)}`);
}

/**
 * Repeats work, and takes samples during it and at the end.
 *
 * @param {string} phase
 * @param {string} database
 * @param {number} times
 * @param {(time: number) => Promise<void>} work
 */
async function sampled(phase, database, times, work) {
  /** @type {Sample[]} */
  const samples = [measure(database)];
  const every = Math.max(1, Math.floor(times / SAMPLES));
  for (let done = 0; done < times;) {
    const batch = Math.min(every, times - done);
    await work(batch);
    done += batch;
    const sample = measure(database);
    samples.push(sample);
    console.log(JSON.stringify({ phase, done, ...sample }));
  }
  return samples;
}

/** @param {number} sessions */
async function someSessions(sessions) {
  const turns = Math.floor(plan.turns / plan.sessions);
  for (let begun = 0; begun < sessions; begun += AT_ONCE) {
    const many = Math.min(AT_ONCE, sessions - begun);
    await Promise.all(Array.from({ length: many }, () => runSession(host, turns)));
  }
}

const database = path.join(root, "opencode.db");
const host = await open(database);
const ofTurns = await sampled("turns", database, plan.sessions, someSessions);
await host.close();

const other = path.join(root, "other.db");
const ofHosts = await sampled("hosts", other, plan.hosts, async (hosts) => {
  for (let opened = 0; opened < hosts; opened++) {
    const one = await open(other);
    await runSession(one, 1);
    await one.close();
  }
});

model.disconnect();
fs.rmSync(root, { recursive: true, force: true });
const findings = [...growing("turns", ofTurns), ...growingTurns(ofTurns), ...growing("hosts", ofHosts)];
for (const finding of findings) console.error(finding);
process.exitCode = findings.length > 0 ? 1 : 0;
