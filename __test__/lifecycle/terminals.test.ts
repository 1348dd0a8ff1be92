import { readFileSync } from "node:fs";
import { setUp } from "../embedded/support";
import { Child } from "./child";

/** A program with another in the foreground, and in the background one that does not care who leaves. */
const children =
  "(trap '' HUP TERM; sleep 600) & echo pid $!; sh -c 'echo pid $$; sleep 600 & echo pid $!; echo ready; wait'";

const terminals = [
  { command: "/bin/sh", args: ["-c", children] },
  // Each job in a process group of its own, as in a terminal that somebody works in.
  { command: "/bin/bash", args: ["--norc", "--noprofile", "-i", "-c", children] },
];

/** Whoever inherits a process that has ended need not take note of it; then it has a number still. */
function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Done when none of these processes is left. */
async function ended(pids: number[]) {
  while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
}

test.each([
  ["is killed", "kill", "SIGKILL"],
  ["exits without closing", "exit", 0],
  ["closes its host", "close", 0],
  ["has nothing else to do", "idle", 0],
] as const)("a process that %s leaves nothing of its terminals behind", async (_, leave, how) => {
  const setup = await setUp();
  const env = { PATH: process.env["PATH"] };
  const child = new Child("terminals", { options: setup.options({ env }), terminals, leave });
  await child.said("ready");
  const pids: number[] = child.lines.flatMap((line) => line["pids"] ?? []);
  expect(pids).toHaveLength(8);
  if (leave === "kill") {
    expect(pids.filter(isAlive)).toEqual(pids);
    child.kill("SIGKILL");
  }
  await expect(child.exited).resolves.toBe(how);
  await ended(pids);
});
