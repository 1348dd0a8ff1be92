import { ended, isAlive } from "../embedded/processes";
import { setUp } from "../embedded/support";
import { Child } from "./child";

/** A program with a child in the foreground, and one in the background that ignores hangups. */
const children =
  "(trap '' HUP TERM; sleep 600) & echo pid $!; sh -c 'echo pid $$; sleep 600 & echo pid $!; echo ready; wait'";

const terminals = [
  { command: "/bin/sh", args: ["-c", children] },
  // Each job has its own process group, as in an interactive terminal.
  { command: "/bin/bash", args: ["--norc", "--noprofile", "-i", "-c", children] },
];

test.each([
  ["is killed", "kill", "SIGKILL"],
  ["exits without closing", "exit", 0],
  ["closes its host", "close", 0],
  ["has no further work", "idle", 0],
] as const)("a process that %s leaves no process of its terminals", async (_, leave, how) => {
  const setup = await setUp();
  const env = { PATH: process.env["PATH"] };
  const child = new Child("terminals", { options: setup.options({ env }), terminals, leave });
  await child.printed("ready");
  const pids: number[] = child.lines.flatMap((line) => line["pids"] ?? []);
  expect(pids).toHaveLength(8);
  if (leave === "kill") {
    expect(pids.filter(isAlive)).toEqual(pids);
    child.kill("SIGKILL");
  }
  await expect(child.exited).resolves.toBe(how);
  await ended(pids);
});
