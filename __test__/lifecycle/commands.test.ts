// Commands whose host process is killed.

import { readdirSync, readlinkSync } from "node:fs";
import { Alive, HOLD } from "../embedded/processes";
import { setUp } from "../embedded/support";
import type { Setup } from "../embedded/support";
import { Child } from "./child";

const start = (setup: Setup, more: object = {}) =>
  new Child("victim", { options: setup.options(), prompts: [{ prompt: { text: "Run it" } }], ...more });

const bash = (command: string) => ({ name: "bash", input: { command, timeout: 600_000 } });

const isLinux = process.platform === "linux";

type Case = [name: string, command: string, lines: number];

const cases: Case[] = [
  ["a command", "echo a >&3; sleep 1000", 1],
  ["background children", "(echo a >&3; sleep 1000) & (echo b >&3; sleep 1000) & echo c >&3; wait", 3],
  ["processes that ignore signals", "trap '' TERM HUP INT; (echo a >&3; sleep 1000) & echo b >&3; sleep 1000", 2],
  ["a child whose shell has exited", "(trap '' HUP; echo a >&3; sleep 1000) & echo b >&3", 2],
  ["processes that ignore a closed output", "trap '' PIPE; echo a >&3; while :; do echo; sleep 0.01; done", 1],
  ["stopped processes", "echo a >&3; kill -STOP $$", 1],
];
const groups: Case[] = [
  ["processes in a new session", "setsid sh -c 'echo a >&3; sleep 1000' & echo b >&3; wait", 2],
  ["processes in a new process group", "timeout 1000 sh -c 'echo a >&3; sleep 1000' & echo b >&3; wait", 2],
];

test.each(isLinux ? [...cases, ...groups] : cases)("SIGKILL of the host ends %s", async (_, command, lines) => {
  const setup = await setUp();
  const alive = new Alive(setup.directory);
  setup.model.reply({ tools: [bash(HOLD + command)] });
  const child = start(setup);
  await alive.wrote(lines);
  child.kill("SIGKILL");
  await expect(child.exited).resolves.toBe("SIGKILL");
  await alive.ended();
});

/** The ids of the processes whose working directory is this one. */
function processesIn(directory: string) {
  return readdirSync("/proc").filter((id) => /^\d+$/.test(id) && workingDirectory(id) === directory);
}

function workingDirectory(id: string) {
  try {
    return readlinkSync(`/proc/${id}/cwd`);
  } catch {
    return undefined;
  }
}

if (isLinux) {
  test("SIGKILL of the host while commands start leaves no process", async () => {
    const setup = await setUp();
    for (let life = 0; life < 10; life += 1) {
      setup.model.reply({ tools: Array.from({ length: 10 }, (_, n) => bash(`sleep 1000; : ${life} ${n}`)) });
      const child = start(setup);
      await child.printed("event", ({ type }) => type === "session.next.tool.called");
      while (child.isRunning && processesIn(setup.directory).length < life) await nextTurn();
      child.kill("SIGKILL");
      await child.exited;
      while (processesIn(setup.directory).length > 0) await nextTurn();
    }
  });
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
