// Model servers in a thread or process of their own, so that they do not share the consumer's.
import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";

/** One that says what it is told to, reply by reply. */
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

/** One that gives every request the same reply. */
export async function startSteadyModel(reply) {
  const worker = new Worker(new URL("./steady-model-thread.mjs", import.meta.url), { workerData: { reply } });
  const [baseURL] = await once(worker, "message");
  const requests = new EventEmitter();
  worker.on("message", () => requests.emit("request"));
  return {
    config: configFor(baseURL),
    /** Resolves when the next request comes. */
    requested: () => once(requests, "request"),
    async close() {
      worker.postMessage("close");
      await once(worker, "exit");
    },
  };
}

/** One that writes so many deltas a second, each of which is the time it was written at. */
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

/** Its window is never full. */
function configFor(baseURL) {
  const models = { m1: { limit: { context: 1_000_000_000, output: 8_000 } } };
  const mock = { npm: "@ai-sdk/openai-compatible", options: { baseURL, apiKey: "secret" }, models };
  return { model: "mock/m1", provider: { mock } };
}
