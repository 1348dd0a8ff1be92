import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";

const { startModel } = createRequire(import.meta.url)("../../testkit/model.js");
const model = await startModel();
parentPort.on("message", async ({ replies, close }) => {
  if (close) {
    await model.close();
    process.exit(0);
  }
  model.reply(...replies);
  parentPort.postMessage({});
});
parentPort.postMessage({ config: model.config() });
