// Runs the examples and `npm start` as a user does, with the scripted model.

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inProject } from "../lib/project.mjs";
import { run } from "../lib/process.mjs";
import { node } from "../lib/tools.mjs";
import { mustContain, mustRun, TIME_LIMIT_MS, runChecks } from "./checks.mjs";
import { modelEnv, withModel } from "./model.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";

/** @type {import("./report.mjs").Stage} */
export const examples = {
  title: "Examples",
  run: (say) =>
    runChecks(
      [
        ["quickstart.mjs", () => runExample("quickstart.mjs")],
        ["commonjs.cjs", () => runExample("commonjs.cjs")],
        ["resume.mjs", () => runExample("resume.mjs")],
        ["recover.mjs", () => runExample("recover.mjs")],
        ["commands.mjs", () => runExample("commands.mjs")],
        ["structured-output.mjs", runStructuredOutput],
        ["plugins.mjs", runPlugins],
        ["mcp.mjs", runMcp],
      ],
      say,
    ),
};

/** @type {import("./report.mjs").Stage} */
export const start = {
  title: "npm start",
  run: (say) =>
    runChecks(
      [
        ["without configuration", demo],
        ["with a model and a question", ownModel],
        ["with a refused key", refusedKey],
        ["with an unreachable server", unreachableServer],
        ["with a missing directory", missingDirectory],
      ],
      say,
    ),
};

async function runPlugins() {
  await inScratch((scratch) =>
    withModel(async (model) => {
      mkdirSync(path.join(scratch.folder, ".git"));
      writeFileSync(path.join(scratch.folder, ".git", "HEAD"), "ref: refs/heads/feature/x\n");
      const tools = [
        { name: "glob", input: { pattern: "*" } },
        { name: "read", input: { path: "missing.txt" } },
      ];
      model.reply({ tools }, { text: "Nothing but a test." });
      const env = userlessEnv(scratch, modelEnv(model));
      const output = await mustRun(node(inProject("examples", "plugins.mjs")), { cwd: scratch.folder, env });
      mustContain(output, "glob succeeded after");
      mustContain(output, "read failed: ");
      mustContain(output, "Nothing but a test.");
      mustContain(JSON.stringify(model.requests[0].body), "The checked-out branch is feature/x.");
    }),
  );
}

async function runStructuredOutput() {
  await inScratch((scratch) =>
    withModel(async (model) => {
      model.reply(
        { text: "There is one." },
        { text: '{"scripts":[{"name":"build","purpose":"compiles the package"}]}' },
      );
      const example = node(inProject("examples", "structured-output.mjs"));
      const output = await mustRun(example, { cwd: scratch.folder, env: userlessEnv(scratch, modelEnv(model)) });
      mustContain(output, "build: compiles the package");
      if (model.requests.length !== 2) throw new Error("Expected a second request after the answer that is not JSON");
    }),
  );
}

async function runMcp() {
  await inScratch((scratch) =>
    withModel(async (model) => {
      const tool = { name: "files_list_directory", input: { path: scratch.folder } };
      writeFileSync(path.join(scratch.folder, "alpha.txt"), "");
      model.reply({ tools: [tool] }, { text: "One file." });
      const server = inProject("node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js");
      const example = node(inProject("examples", "mcp.mjs"), process.execPath, server, scratch.folder);
      const output = await mustRun(example, { cwd: scratch.folder, env: userlessEnv(scratch, modelEnv(model)) });
      mustContain(output, "files: connected, ");
      mustContain(output, "One file.");
      mustContain(JSON.stringify(model.requests[1].body), "alpha.txt");
    }),
  );
}

/** @param {string} file */
async function runExample(file) {
  await inScratch((scratch) =>
    withModel(async (model) => {
      model.reply({ deltas: ["Nothing", " but", " a", " test."], delayMs: 5 });
      const env = userlessEnv(scratch, modelEnv(model));
      const output = await mustRun(node(inProject("examples", file)), { cwd: scratch.folder, env });
      mustContain(output, "Nothing but a test.");
    }),
  );
}

async function demo() {
  const { code, output } = await runStart({});
  expectCode(code, 0, output);
  const called = ["→ read", "process.argv[2]", "Hello, <name>!"];
  const parts = ["2 turns", "[read: completed]", "durable events"];
  for (const part of [...called, ...parts]) mustContain(output, part);
}

async function ownModel() {
  await withModel(async (model) => {
    model.reply({ text: "An answer." });
    const { code, output } = await runStart(modelEnv(model), ["--model", "small", "What", "is", "this?"]);
    expectCode(code, 0, output);
    mustContain(output, "> What is this?");
    mustContain(output, "An answer.");
    const [{ body }] = model.requests;
    if (body.model !== "small") throw new Error(`Expected the model small, got ${body.model}`);
  });
}

async function refusedKey() {
  await withModel(async (model) => {
    model.reply({ status: 401, body: { error: { message: "Incorrect API key provided" } } });
    expectSentence(await runStart(modelEnv(model)), "refused the key: Incorrect API key provided");
  });
}

async function unreachableServer() {
  // After the server is closed, its port has no listener.
  const url = await withModel(async (model) => model.url);
  expectSentence(await runStart({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "x" }), "cannot be reached");
}

async function missingDirectory() {
  const result = await runStart({ OPENAI_API_KEY: "x" }, ["--directory", "nowhere"]);
  expectSentence(result, "does not exist");
}

/**
 * @param {Record<string, string>} env
 * @param {string[]} [args]
 */
function runStart(env, args = []) {
  return inScratch((scratch) =>
    run(node(inProject("scripts/start.mjs"), ...args), {
      cwd: scratch.folder,
      env: userlessEnv(scratch, env),
      timeoutMs: TIME_LIMIT_MS,
    }),
  );
}

/**
 * @template T
 * @param {(scratch: import("./scratch.mjs").Scratch) => Promise<T>} use
 */
async function inScratch(use) {
  const scratch = createScratch();
  try {
    return await use(scratch);
  } finally {
    scratch.remove();
  }
}

/**
 * @param {number} code
 * @param {number} expected
 * @param {string} output
 */
function expectCode(code, expected, output) {
  if (code !== expected) throw new Error(`Expected exit code ${expected}, got ${code}\n${output}`);
}

/**
 * Checks that the last line states the failure, and that no other line does.
 *
 * @param {{ code: number, output: string }} result
 * @param {string} part
 */
function expectSentence({ code, output }, part) {
  expectCode(code, 1, output);
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  mustContain(last, "error");
  mustContain(last, part);
  if (output.includes("    at ")) throw new Error(`The output contains a stack:\n${output}`);
}
