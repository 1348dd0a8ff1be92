"use strict";

// Runs scripts in terminals, prints the ids of their processes, and waits.

const { WebSocket } = require("ws");
const { input, open, print } = require("./support.js");

/**
 * The processes of a script, which prints their ids and then `ready`.
 *
 * @param {string} url
 * @returns {Promise<number[]>}
 */
function readProcesses(url) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    let text = "";
    socket.on("error", reject);
    socket.on("message", (data, isBinary) => {
      if (!isBinary) text += data.toString();
      if (text.includes("ready")) resolve([...text.matchAll(/^pid (\d+)\r?$/gm)].map(([, pid]) => Number(pid)));
    });
  });
}

async function main() {
  const host = await open();
  const listener = await host.listen({ password: false });
  const address = listener.url.replace("http", "ws");
  for (const terminal of input.terminals) {
    const { data } = await host.ptys.create(terminal);
    const pids = await readProcesses(`${address}/api/pty/${data.id}/connect`);
    print("terminal", { pids: [data.pid, ...pids] });
  }
  print("ready");
  if (input.leave === "exit") process.exit(0);
  // A listener would keep the process alive.
  if (input.leave === "idle") await listener.close();
  if (input.leave === "close") await host.close();
}

main();
