import { readFileSync } from "node:fs";
import path from "node:path";
import { setUp } from "../embedded/support";
import { Child } from "./child";

const SERVER = path.join(__dirname, "../mcp/scripted.mjs");

/** A process that has ended may stay a zombie, because the process that inherits it need not wait for it. */
function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Resolves when none of these processes is alive. */
async function ended(pids: number[]) {
  while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
}

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
