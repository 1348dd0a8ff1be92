"use strict";

// Opens hosts in worker threads that end without closing them, in each way in which a worker can end.

const { once } = require("node:events");
const path = require("node:path");
const { isMainThread, parentPort, Worker, workerData } = require("node:worker_threads");
const { OpenCode, isDatabaseInUseError } = require("../../../index.js");
const { input, print } = require("./support.js");

async function work() {
  const host = await OpenCode.create(workerData.options);
  const { id: sessionID } = await host.sessions.create({ id: "ses_worker" });
  await host.sessions.prompt({ sessionID, id: "msg_worker", prompt: { text: "Hi" } });
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await live.next();
  parentPort?.postMessage("working");
  if (workerData.end === "exit") process.exit(0);
  if (workerData.end === "return") return;
  for await (const _ of host.sessions.events({ sessionID }));
}

/**
 * Opens the file as soon as the host of the worker has released it.
 *
 * @param {import("../../../index.js").OpenCodeOptions} options
 */
async function openWhenFree(options) {
  for (;;) {
    try {
      return await OpenCode.create(options);
    } catch (error) {
      if (!isDatabaseInUseError(error)) throw error;
    }
  }
}

/**
 * @param {string | undefined} end
 * @param {number} number
 */
async function runWorker(end, number) {
  const options = { ...input.options, database: path.join(input.folder, `${end}-${number}.db`) };
  const worker = new Worker(__filename, { workerData: { options, end } });
  const exited = once(worker, "exit");
  await once(worker, "message");
  if (end === "terminate") await worker.terminate();
  await exited;
  const host = await openWhenFree(options);
  const { data } = await host.sessions.history({ sessionID: "ses_worker" });
  const admitted = data.filter(({ type }) => type === "session.next.prompt.admitted").length;
  await host.close();
  return { end, admitted, last: data.at(-1)?.type };
}

async function main() {
  const ends = ["terminate", "exit", "return"];
  const runs = Array.from({ length: input.workers }, (_, number) => runWorker(ends[number % ends.length], number));
  print("ended", { results: await Promise.all(runs) });
}

void (isMainThread ? main() : work());
