// A model server in a process of its own: every request gets the same answer.

import http from "node:http";
import { createRequire } from "node:module";

const { renderReply } = createRequire(import.meta.url)("../../testkit/reply.js");
const { status, headers, pieces } = renderReply({ text: "An answer of a few words." });
const body = Buffer.concat(pieces);

const server = http.createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(status, headers).end(body));
});
server.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.send?.(`http://127.0.0.1:${port}/v1`);
});
process.on("disconnect", () => process.exit());
