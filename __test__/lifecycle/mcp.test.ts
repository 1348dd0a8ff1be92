import path from "node:path";
import { ended, isAlive } from "../embedded/processes";
import { setUp } from "../embedded/support";
import { Child } from "./child";

const SERVER = path.join(__dirname, "../mcp/scripted.mjs");

test.each([
  ["is killed", "kill", "SIGKILL"],
  ["exits without closing", "exit", 0],
  ["closes its host", "close", 0],
  ["has no further work", "idle", 0],
] as const)("a process that %s leaves no process of its MCP servers", async (_, leave, how) => {
  const setup = await setUp();
  const pids = path.join(setup.root, "pids.json");
  const server = { type: "local", command: [process.execPath, SERVER, "parent", pids] };
  const env = { PATH: process.env["PATH"] };
  const child = new Child("mcp", { options: setup.options({ env }), server, pids, leave });
  const ready = await child.printed("ready");
  expect(ready).toMatchObject({ status: "connected" });
  expect(ready["pids"]).toHaveLength(2);
  if (leave === "kill") {
    expect(ready["pids"].filter(isAlive)).toEqual(ready["pids"]);
    child.kill("SIGKILL");
  }
  await expect(child.exited).resolves.toBe(how);
  await ended(ready["pids"]);
});
