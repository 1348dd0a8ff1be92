"use strict";

// Opens a host in each of several worker threads. Each registers the same tool with another result.

const path = require("node:path");
const { once } = require("node:events");
const { isMainThread, parentPort, Worker, workerData } = require("node:worker_threads");
const { OpenCode } = require("../../../index.js");
const { input, print } = require("./support.js");

async function work() {
  const host = await OpenCode.create(workerData.options);
  host.tools.register({
    name: "who",
    description: "Names the worker.",
    input: { type: "object" },
    execute: () => `worker ${workerData.number}`,
  });
  /** @type {string[]} */
  const hooked = [];
  host.hooks.onToolCall(({ sessionID }) => void hooked.push(sessionID));
  const { id: sessionID } = await host.sessions.create();
  parentPort?.postMessage("ready");
  if (parentPort !== null) await once(parentPort, "message");
  await host.sessions.prompt({ sessionID, prompt: { text: "Who?" } });
  await host.sessions.wait({ sessionID });
  const { items } = await host.sessions.messages({ sessionID });
  const parts = items.flatMap((message) => (message.type === "assistant" ? message.content : []));
  const results = parts.flatMap((part) => (part.type === "tool" ? [JSON.stringify(part.state)] : []));
  await host.close();
  parentPort?.postMessage({ results, isOwnHook: hooked.every((id) => id === sessionID), hooks: hooked.length });
}

/** @param {number} number */
async function startWorker(number) {
  const options = { ...input.options, database: path.join(input.folder, `worker-${number}.db`) };
  const worker = new Worker(__filename, { workerData: { options, number } });
  await once(worker, "message");
  return worker;
}

async function main() {
  const workers = await Promise.all(Array.from({ length: input.workers }, (_, number) => startWorker(number)));
  const results = [];
  // All hosts are open. They prompt one after the other, in the order of the scripted replies.
  for (const worker of workers) {
    // An exit can come with the last message.
    const exited = once(worker, "exit");
    worker.postMessage("go");
    const [result] = await once(worker, "message");
    results.push(result);
    await exited;
  }
  print("ended", { results });
}

void (isMainThread ? main() : work());
