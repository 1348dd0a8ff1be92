// A model server that sends every request the same answer without parsing it. Parsing a request of one megabyte would
// take longer than the measured turn.
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

const { renderReply } = createRequire(import.meta.url)("../../testkit/reply.js");
const { status, headers, pieces } = renderReply(workerData.reply);
const body = Buffer.concat(pieces);

const server = createServer((request, response) => {
  parentPort.postMessage("request");
  request.resume().on("end", () => response.writeHead(status, headers).end(body));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
parentPort.on("message", () => process.exit(0));
parentPort.postMessage(`http://127.0.0.1:${server.address().port}/v1`);
