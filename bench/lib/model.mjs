// Model servers in other threads or processes, so that they do not use the thread of the consumer.
import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";

/** Starts a model that sends queued replies. */
export async function startModel() {
  const worker = new Worker(new URL("./model-thread.mjs", import.meta.url));
  const [{ config }] = await once(worker, "message");
  return {
    config,
    /** Queues replies. */
    async reply(...replies) {
      worker.postMessage({ replies });
      await once(worker, "message");
    },
    async close() {
      worker.postMessage({ close: true });
      await once(worker, "exit");
    },
  };
}

/** Starts a model that answers every request with the same reply. */
export async function startSteadyModel(reply) {
  const worker = new Worker(new URL("./steady-model-thread.mjs", import.meta.url), { workerData: { reply } });
  const [baseURL] = await once(worker, "message");
  const requests = new EventEmitter();
  worker.on("message", () => requests.emit("request"));
  return {
    config: configFor(baseURL),
    /** Resolves when the next request arrives. */
    requested: () => once(requests, "request"),
    async close() {
      worker.postMessage("close");
      await once(worker, "exit");
    },
  };
}

/** Starts a model that writes deltas at this pace. The text of each delta is the time at which it was written. */
export async function startPacedModel(pace) {
  const child = fork(new URL("./paced-model.mjs", import.meta.url), [JSON.stringify(pace)]);
  const [baseURL] = await once(child, "message");
  return {
    config: configFor(baseURL),
    async close() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

/** The context window is so large that it is never full. */
function configFor(baseURL) {
  const models = { m1: { limit: { context: 1_000_000_000, output: 8_000 } } };
  const mock = { npm: "@ai-sdk/openai-compatible", options: { baseURL, apiKey: "secret" }, models };
  return { model: "mock/m1", provider: { mock } };
}
