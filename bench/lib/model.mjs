// The scripted model server in a thread of its own, so that it does not share the consumer's.
import { once } from "node:events"
import { Worker } from "node:worker_threads"

export async function startModel() {
  const worker = new Worker(new URL("./model-thread.mjs", import.meta.url))
  const [{ config }] = await once(worker, "message")
  return {
    config,
    /** Queues replies. */
    async reply(...replies) {
      worker.postMessage({ replies })
      await once(worker, "message")
    },
    async close() {
      worker.postMessage({ close: true })
      await once(worker, "exit")
    },
  }
}
