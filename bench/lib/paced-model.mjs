// A model server in another process, so that its work is not measured. The text of every delta is the time at which it
// was written.
import { once } from "node:events";
import { createServer } from "node:http";

const { deltas, perSecond } = JSON.parse(process.argv[2]);

const server = createServer((request, response) => {
  request.resume().on("end", () => answer(response));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.on("disconnect", () => process.exit(0));
process.send(`http://127.0.0.1:${server.address().port}/v1`);

/** Timers are not exact enough, so the process polls the clock between two deltas. */
function answer(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket.setNoDelay(true);
  const start = performance.now();
  let written = 0;
  const next = () => {
    if (written === deltas) return end(response);
    if (performance.now() - start >= (written * 1000) / perSecond) {
      written++;
      chunk(response, { content: String(performance.timeOrigin + performance.now()) });
    }
    setImmediate(next);
  };
  next();
}

function end(response) {
  chunk(response, {}, "stop");
  response.end("data: [DONE]\n\n");
}

function chunk(response, delta, finish_reason = null) {
  const body = { id: "paced", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
  response.write(`data: ${JSON.stringify(body)}\n\n`);
}
