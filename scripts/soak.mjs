// Runs many turns, sessions and hosts in one process. Fails if a figure of that process grows:
// npm run soak [-- --turns n --sessions n --hosts n].

import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compileSources } from "./lib/compile.mjs";
import { Failure, runScript } from "./lib/failure.mjs";
import { runInForeground } from "./lib/process.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

/** @param {string} name @param {string} text */
function count(name, text) {
  if (!/^[1-9]\d*$/.test(text)) throw new Failure(`--${name} must be a whole number of at least 1, got ${text}`);
  return Number(text);
}

await runScript(async () => {
  if (process.platform !== "linux") throw new Failure("The soak test runs only on Linux, because it reads /proc");
  const { values } = parseArgs({
    options: {
      turns: { type: "string", default: "20000" },
      sessions: { type: "string", default: "2000" },
      hosts: { type: "string", default: "200" },
    },
  });
  const [turns, sessions, hosts] = [
    count("turns", values.turns),
    count("sessions", values.sessions),
    count("hosts", values.hosts),
  ];
  if (turns < sessions)
    throw new Failure("--turns must be at least --sessions, because each session has one turn or more");
  await compileSources();
  const program = path.join(here, "soak", "run.mjs");
  const plan = JSON.stringify({ turns, sessions, hosts });
  process.exitCode = await runInForeground([process.execPath, "--expose-gc", program, plan]);
});
