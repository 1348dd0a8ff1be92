// A function of the option `log` that is slower than the host. Entries are dropped and counted, and only a bounded
// number of entries waits for it.

import { Worker } from "node:worker_threads";
import type { LogEntry } from "../../index.js";
import { setUp } from "./support";

const MAX_WAITING = 4096;
const MAX_BYTES = 4 * 1024 * 1024;
/** The largest number of entries that the function may already have received when it begins to block. */
const MAX_BATCH = 256;

/** Sends requests without a password over one connection, and records when all are answered. */
const FLOOD = `
  const { workerData: { port, count, path, answered } } = require("node:worker_threads");
  const socket = require("node:net").connect(port, "127.0.0.1");
  const request = "GET " + path + " HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n";
  let left = count, seen = "";
  const send = () => socket.write(request.repeat(Math.min(left, 16)));
  socket.setEncoding("latin1").on("connect", send).on("data", (text) => {
    seen += text;
    const parts = seen.split("HTTP/1.1 401");
    // The last answer may be incomplete.
    const heads = parts.length - 1;
    if (heads < Math.min(left, 16)) return;
    left -= heads;
    seen = "";
    if (left > 0) return send();
    socket.destroy();
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  });
`;

/** The entries of a function that blocks the thread at its first entry until `count` requests are refused. */
async function flooded(count: number, path: string) {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const entries: LogEntry[] = [];
  const sink = (entry: LogEntry) => {
    // The limit is far longer than the test takes. If it is reached, the test fails.
    if (entries.length === 0) Atomics.wait(answered, 0, 0, 100_000);
    entries.push(entry);
  };
  const setup = await setUp();
  const log = { level: "off", targets: { "opencode::server": "debug" }, sink } as const;
  const host = await setup.open({ log });
  const listener = await host.listen();
  const workerData = { port: Number(new URL(listener.url).port), count, path, answered };
  const worker = new Worker(FLOOD, { eval: true, workerData });
  await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
  await host.close();
  const refused = entries.filter(({ message }) => message.includes("without the right credentials"));
  const dropped = entries.filter(({ target }) => target === "opencode::log");
  return { refused, dropped, total: dropped.reduce((sum, { fields }) => sum + Number(fields["dropped"]), 0) };
}

test("a flood delivers as many entries as may wait, then the number of dropped entries", async () => {
  const count = 6_000;
  const { refused, dropped, total } = await flooded(count, "/api/session");
  expect(refused.length).toBeGreaterThanOrEqual(MAX_WAITING);
  expect(refused.length).toBeLessThanOrEqual(MAX_WAITING + MAX_BATCH);
  expect(refused.length + total).toBe(count);
  expect(dropped[0]).toMatchObject({ level: "warn", message: expect.stringContaining("dropped") });
});

test("limits long entries by their bytes", async () => {
  const count = 1_500;
  const path = `/api/${"a".repeat(8_000)}`;
  const { refused, total } = await flooded(count, path);
  const most = MAX_BYTES / path.length + MAX_BATCH;
  expect(refused.length).toBeLessThanOrEqual(most);
  expect(refused.length + total).toBe(count);
});
