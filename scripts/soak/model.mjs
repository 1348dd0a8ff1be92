// A model server in another process. For the first prompt of a session it calls the tool write. Every other request
// receives the same answer.

import http from "node:http";
import { createRequire } from "node:module";
import { text as readText } from "node:stream/consumers";

const { renderReply } = createRequire(import.meta.url)("../../testkit/reply.js");
/** Number of files that are written in rotation. */
const FILES = 50;

const answer = render({ text: "An answer of a few words." });
let written = 0;

/** @param {import("../../testkit/reply.js").Reply} reply */
function render(reply) {
  const { status, headers, pieces } = renderReply(reply);
  return { status, headers, body: Buffer.concat(pieces) };
}

function renderWrite() {
  written += 1;
  const input = { path: `written/${written % FILES}.txt`, content: `Content ${written}\n` };
  return render({ tools: [{ name: "write", input }] });
}

/** @param {string} text A request. */
function isFirstPrompt(text) {
  const { content } = JSON.parse(text).messages.at(-1);
  return JSON.stringify(content).includes("Prompt 0");
}

const server = http.createServer(async (request, response) => {
  const text = await readText(request);
  const { status, headers, body } = isFirstPrompt(text) ? renderWrite() : answer;
  response.writeHead(status, headers).end(body);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.send?.(`http://127.0.0.1:${port}/v1`);
});
process.on("disconnect", () => process.exit());
