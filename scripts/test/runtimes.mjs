// Tests the installed package under every supported runtime: Node, Bun and Deno.

import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { currentPlatform } from "../lib/platforms.mjs";
import { inProject } from "../lib/project.mjs";
import { bun, deno, node } from "../lib/tools.mjs";
import { mustContain, mustRun, TIME_LIMIT_MS } from "./checks.mjs";
import { withModel } from "./model.mjs";
import { userlessEnv } from "./scratch.mjs";
import { build } from "./type-project.mjs";

/**
 * @typedef {import("./scratch.mjs").Scratch} Scratch
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {(file: string, rights?: readonly string[]) => string[]} program Runs a program of the project. `rights`
 *   are the permissions of Deno. Default: all.
 * @property {(program: string) => string} typed The path of a program of `runtimes`, which is in TypeScript.
 */

const PROGRAMS = inProject("scripts/test/runtimes");

/** The permissions of a host under Deno: the addon, and information about the environment for JavaScript. */
const HOST = ["--allow-ffi", "--allow-read", "--allow-env"];

/** @param {string} program */
const asWritten = (program) => `runtimes/${program}.ts`;

/** @type {Runtime} */
const NODE = { name: "Node", program: (file) => node(file), typed: (program) => `built-runtimes/${program}.js` };

/** @type {Runtime} */
const BUN = { name: "Bun", program: (file) => bun("--no-install", file), typed: asWritten };

/** @type {Runtime} */
const DENO = {
  name: "Deno",
  program: (file, rights = ["--allow-all"]) => deno("run", "--no-prompt", ...rights, file),
  typed: asWritten,
};

/** The runtimes for this platform. Deno has no binaries for musl. */
export const runtimes = () => (currentPlatform().libc === "musl" ? [NODE, BUN] : [NODE, BUN, DENO]);

/**
 * @param {Scratch} project The project in which the package is installed.
 * @returns {[string, () => unknown][]}
 */
export function runtimeChecks(project) {
  const checks = runtimes().flatMap((runtime) => checksOf(project, runtime));
  return [["the programs for every runtime compile", () => prepare(project)], ...checks];
}

/** @param {Scratch} project */
function prepare(project) {
  for (const file of readdirSync(PROGRAMS))
    project.write(`runtimes/${file}`, readFileSync(`${PROGRAMS}/${file}`, "utf8"));
  mkdirSync(project.path("workspace"));
  return build(project, "runtimes", "../built-runtimes");
}

/**
 * @param {Scratch} project
 * @param {Runtime} runtime
 * @returns {[string, () => unknown][]}
 */
function checksOf(project, runtime) {
  /** @type {[string, (project: Scratch, runtime: Runtime) => unknown][]} */
  const checks = [
    ["a session through import", (...on) => runSession("session.mjs", ...on)],
    ["a session through require", (...on) => runSession("session.cjs", ...on)],
    ["the functions of a host", runAll],
    ["an idle host does not keep its process alive", idle],
    ["a Session Drain keeps its process alive", prompting],
    ["a command does not outlive its host", killed],
    ["only the client, over the network", serving],
  ];
  return checks.map(([name, check]) => [`${runtime.name}: ${name}`, () => check(project, runtime)]);
}

/**
 * @param {Scratch} project
 * @param {readonly string[]} command
 * @param {{ config(): object }} [model]
 * @param {(line: string) => void} [onLine]
 */
function runProgram(project, command, model, onLine) {
  const config = model === undefined ? {} : { CONFIG: JSON.stringify(model.config()) };
  const env = userlessEnv(project, { ...config, DENO_NO_UPDATE_CHECK: "1" });
  return mustRun(command, { cwd: project.folder, env, ...(onLine && { onLine }) });
}

/**
 * @param {string} program
 * @param {Scratch} project
 * @param {Runtime} runtime
 */
async function runSession(program, project, runtime) {
  await withModel(async (model) => {
    model.reply({ deltas: ["Hello", " from", " the", " script."] });
    const output = await runProgram(project, runtime.program(project.path(program), HOST), model);
    mustContain(output, "Hello from the script.");
  });
}

/** A call that reads a secret file, which requires a permission. */
const READ_SECRET = { tools: [{ name: "read", input: { path: ".env" } }] };

/** The answers for the checks of `sessions.ts` and `streams.ts`, in the order of their prompts. */
const ANSWERS = [
  { tools: [{ name: "bash", input: { command: "echo $((1 + 2))" } }] },
  { deltas: ["It is", " three."] },
  READ_SECRET,
  { text: "It is not for me." },
  READ_SECRET,
  { text: "Done." },
  READ_SECRET,
  { text: "Done." },
  { tools: [{ name: "bash", input: { command: "sleep 600" } }] },
  { text: "Hello." },
];

/**
 * @param {Scratch} project
 * @param {Runtime} runtime
 */
async function runAll(project, runtime) {
  await withModel(async (model) => {
    model.reply(...ANSWERS);
    const output = await runProgram(project, runtime.program(project.path(runtime.typed("run"))), model);
    const { numPassedTests } = JSON.parse(output);
    if (!(numPassedTests > 0)) throw new Error(`No check was run:\n${output}`);
    if (model.requests.length !== ANSWERS.length)
      throw new Error(`Expected ${ANSWERS.length} requests at the model, got ${model.requests.length}`);
  });
}

/**
 * @param {Scratch} project
 * @param {Runtime} runtime
 * @param {string} life
 * @param {{ config(): object }} [model]
 * @param {(line: string) => void} [onLine]
 */
function live(project, runtime, life, model, onLine) {
  return runProgram(project, [...runtime.program(project.path(runtime.typed("lives"))), life], model, onLine);
}

/**
 * @param {Scratch} project
 * @param {Runtime} runtime
 */
async function idle(project, runtime) {
  deleteData(project);
  await live(project, runtime, "idle");
}

/**
 * @param {Scratch} project
 * @param {Runtime} runtime
 */
async function prompting(project, runtime) {
  deleteData(project);
  await withModel(async (model) => {
    model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
    const ended = live(project, runtime, "prompting", model);
    await Promise.race([model.reached("middle"), ended]);
    // Runs another process from start to end, which takes as long as any other process needs to end.
    await runProgram(project, runtime.program(project.path("session.mjs")), model);
    model.release("middle");
    await ended;
    mustContain(await live(project, runtime, "reading"), "Once upon a time.");
  });
}

/**
 * @param {Scratch} project
 * @param {Runtime} runtime
 */
async function killed(project, runtime) {
  deleteData(project);
  await withModel(async (model) => {
    model.reply({ tools: [{ name: "bash", input: { command: "echo $$ > new && mv new pid && sleep 600" } }] });
    const ended = await live(project, runtime, "killed", model).catch((error) => error);
    mustContain(String(ended), "SIGKILL ended it");
    await untilEnded(Number(readFileSync(project.path("workspace", "pid"), "utf8")));
  });
}

/** @param {number} pid */
async function untilEnded(pid) {
  for (const deadline = performance.now() + TIME_LIMIT_MS; isAlive(pid); await sleep(10)) {
    if (performance.now() > deadline) throw new Error(`The process ${pid} did not end`);
  }
}

/**
 * A process that has ended may stay a zombie, because the process that inherits it need not wait for it.
 *
 * @param {number} pid
 */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/**
 * Checks that the client needs only the network.
 *
 * @param {Scratch} project
 * @param {Runtime} runtime
 */
async function serving(project, runtime) {
  deleteData(project);
  await withModel(async (model) => {
    model.reply({ deltas: ["Hello", " over", " there."] });
    let hear = (/** @type {string} */ _line) => {};
    const heard = new Promise((resolve) => (hear = resolve));
    const served = live(project, runtime, "serving", model, hear);
    const url = await Promise.race([heard, served]);
    const client = runtime.program(project.path(runtime.typed("client")), [`--allow-net=${new URL(url).host}`]);
    mustContain(await runProgram(project, [...client, url]), "Hello over there.");
    await served;
  });
}

/**
 * Deletes the data of the previous program.
 *
 * @param {Scratch} project
 */
function deleteData(project) {
  for (const file of ["lives.db", "lives.db-shm", "lives.db-wal", "workspace/pid"])
    rmSync(project.path(file), { force: true });
}
