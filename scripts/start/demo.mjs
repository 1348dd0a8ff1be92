// A session without prerequisites: a small project in a temporary folder, and a scripted model server.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { isInstalled } from "../lib/tools.mjs";
import { run } from "../lib/process.mjs";

const { startModel } = createRequire(import.meta.url)("../../testkit/model.js");

const FILES = {
  "README.md": "# Greeter\n\nPrints a greeting.\n",
  "src/greeting.js": [
    "// Greets the person named on the command line.",
    'const name = process.argv[2] ?? "world";',
    "",
    "console.log(`Hello, ${name}!`);",
    "",
  ].join("\n"),
};

const SAYS_FIRST = "I will look at the program before I answer.";
const ANSWER =
  "It prints one line, `Hello, <name>!`. The name is the first argument of the command line; " +
  "without one it greets the world.";

/** Milliseconds between two words, so that their arrival is visible. */
const PAUSE_MS = 40;

/** @returns {Promise<import("./provider.mjs").Setup>} */
export async function prepareDemo() {
  const folder = mkdtempSync(path.join(os.tmpdir(), "opencode-embedded-"));
  const directory = path.join(folder, "project");
  await createProject(directory);
  const model = await startModel();
  const read = { name: "read", input: { path: "src/greeting.js" } };
  model.reply(
    { deltas: words(SAYS_FIRST), tools: [read], usage: { input: 2104, output: 31 }, delayMs: PAUSE_MS },
    { deltas: words(ANSWER), usage: { input: 2197, output: 38, cached: 2048 }, delayMs: PAUSE_MS },
  );
  return {
    model: `a script, served at ${model.url} (set OPENAI_API_KEY for a real one)`,
    prompt: "What does src/greeting.js do?",
    options: {
      directory,
      database: path.join(folder, "opencode.db"),
      // Excludes the user's own configuration.
      home: folder,
      env: { PATH: process.env.PATH },
      config: model.config(),
    },
    async end() {
      await model.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @param {string} directory */
async function createProject(directory) {
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
    writeFileSync(path.join(directory, file), text);
  }
  // A project is a git repository, if git is installed.
  if (!(await isInstalled(["git", "--version"]))) return;
  const author = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "--quiet"],
    ["add", "."],
    ["commit", "--quiet", "--message", "Begin"],
  ]) {
    await run(["git", ...author, ...args], { cwd: directory });
  }
}

/** @param {string} text */
function words(text) {
  return text.match(/\S+\s*/g) ?? [];
}
