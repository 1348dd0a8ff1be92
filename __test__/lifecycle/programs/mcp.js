"use strict";

// Starts an MCP server with a child process of its own, prints the ids of both processes, and waits.

const { readFileSync } = require("node:fs");
const { input, open, print } = require("./support.js");

async function main() {
  const host = await open();
  const { data } = await host.mcp.add({ name: "parent", config: input.server });
  print("ready", { status: data.status.status, pids: JSON.parse(readFileSync(input.pids, "utf8")) });
  if (input.leave === "exit") process.exit(0);
  if (input.leave === "close") await host.close();
  if (input.leave === "kill") setInterval(() => {}, 1000);
}

main();
