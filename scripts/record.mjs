// Records `npm start` with the scripted model, and draws it as docs/start.svg: node scripts/record.mjs.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import os from "node:os";
import { ensureAddon } from "./lib/addon.mjs";
import { compileSources } from "./lib/compile.mjs";
import { Failure, runScript } from "./lib/failure.mjs";
import { inProject } from "./lib/project.mjs";
import { renderTerminal } from "./lib/terminal-svg.mjs";
import { node } from "./lib/tools.mjs";

const PICTURE = "docs/start.svg";
const MOST_BYTES = 60_000;

await runScript(async () => {
  // `npm start` would build the package too, but the picture shows only the session.
  await compileSources();
  await ensureAddon();
  const svg = renderTerminal({
    title:
      "A terminal runs npm start: the model says that it will look, reads a file with a tool, and answers as the " +
      "text streams. Then the file of the session is opened again and lists its contents.",
    command: "npm start",
    chunks: await record(node(inProject("scripts/start.mjs"))),
  });
  const bytes = Buffer.byteLength(svg);
  if (bytes > MOST_BYTES) throw new Failure(`${PICTURE} would have ${bytes} bytes, but only ${MOST_BYTES} are allowed`);
  writeFileSync(inProject(PICTURE), svg);
  console.log(`${PICTURE}: ${bytes} bytes`);
});

/**
 * Runs a program and records its output with times.
 *
 * @param {readonly string[]} command
 * @returns {Promise<import("./lib/terminal-svg.mjs").Chunk[]>}
 */
function record([program, ...args]) {
  const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, NO_COLOR: _plain, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...env, FORCE_COLOR: "1" }, stdio: ["ignore", "pipe", "inherit"] });
    /** @type {import("./lib/terminal-svg.mjs").Chunk[]} */
    const chunks = [];
    let began = 0;
    child.stdout.setEncoding("utf8").on("data", (text) => {
      // Excludes the time before the first output, in which Node loads the addon. A debug build takes longer to load.
      began ||= performance.now();
      chunks.push({ ms: Math.round(performance.now() - began), text: withoutFolder(text) });
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(chunks);
      else reject(new Failure(`npm start exited with code ${code}`));
    });
  });
}

/**
 * Replaces the temporary folder of the session, which has a different name on each machine.
 *
 * @param {string} text
 */
function withoutFolder(text) {
  return text.replaceAll(new RegExp(`${os.tmpdir()}/[\\w-]+`, "g"), "…");
}
