// MCP servers: the time of a call over stdio in addition to the time of the server itself, and the opening of a host
// with ten configured servers.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { OpenCode } from "../../index.mjs";
import { openHost, options } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { median, report, time } from "../lib/report.mjs";

const TURNS = 24;
const SERVER = fileURLToPath(new URL("../lib/mcp-server.mjs", import.meta.url));
const server = { type: "local", command: [process.execPath, SERVER] };

await measureCalls();
await measureOpening();

/** Compares drains whose calls go to a server with drains whose calls go to a function of the program. */
async function measureCalls() {
  const own = await roundTrips();
  const model = await startModel();
  const { host, close } = await openHost(model.config);
  await host.mcp.add({ name: "bench", config: server });
  host.tools.register({
    name: "count",
    description: "Counts its calls.",
    input: { type: "object" },
    execute: () => "Counted.",
  });
  const samples = { bench_count: [], count: [] };
  for (let run = 0; run < 15; run++) {
    for (const [name, times] of Object.entries(samples)) {
      for (let at = 0; at < TURNS; at++) await model.reply({ tools: [{ name, input: { at } }] });
      await model.reply({ text: "Done." });
      times.push(await turn(host));
    }
  }
  const pairs = samples.bench_count.map((ms, run) => (ms - samples.count[run]) / TURNS);
  report("round trip of a server over stdio, without a host", "ms", own);
  report("an MCP call over stdio, above a tool of the program", "ms", pairs.slice(3), { atMost: median(own) + 1 });
  await close();
  await model.close();
}

async function turn(host) {
  const { id: sessionID } = await host.sessions.create();
  return time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Count" } });
    await host.sessions.wait({ sessionID });
  });
}

/** The times of calls without a host. */
async function roundTrips() {
  const [program, ...args] = server.command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const samples = [];
  for (let id = 0; id < 200; id++) {
    const request = { jsonrpc: "2.0", id, method: "tools/call", params: { name: "count", arguments: {} } };
    samples.push(
      await time(async () => {
        child.stdin.write(`${JSON.stringify(request)}\n`);
        await lines.next();
      }),
    );
  }
  child.kill();
  return samples.slice(50);
}

/** Opens hosts with and without servers, in turn. */
async function measureOpening() {
  const servers = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`server${at}`, server]));
  const samples = { without: [], with: [] };
  for (let run = 0; run < 31; run++) {
    samples.without.push(await open({}));
    samples.with.push(await open({ mcp: servers }));
  }
  const usual = samples.without.slice(1);
  report("open and create a session, without servers", "ms", usual);
  report("open and create a session, with ten configured servers", "ms", samples.with.slice(1), {
    atMost: 1.1 * median(usual),
  });
}

async function open(more) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"));
  let host;
  const took = await time(async () => {
    host = await OpenCode.create({ ...options(root, root), ...more });
    await host.sessions.create();
  });
  await host.close();
  fs.rmSync(root, { recursive: true, force: true });
  return took;
}
