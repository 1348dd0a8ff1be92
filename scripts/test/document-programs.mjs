// Compiles the TypeScript programs of the documents against the installed package, and runs the examples.
//
// A program without imports continues the first one of its page: it has `opencode`, a host, and `sessionID`.

import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { listPrograms } from "../lib/documents.mjs";
import { inProject } from "../lib/project.mjs";
import { node } from "../lib/tools.mjs";
import { mustContain, mustRun } from "./checks.mjs";
import { modelEnv, withModel } from "./model.mjs";
import { userlessEnv } from "./scratch.mjs";
import { build } from "./type-project.mjs";

/**
 * @typedef {import("../lib/documents.mjs").Program} Program
 * @typedef {import("../lib/documents.mjs").Example} Example
 * @typedef {import("./scratch.mjs").Scratch} Scratch
 */

const FOLDER = "documents";
const BUILT = "built-documents";

const GLOBALS = `
declare const opencode: import("opencode-embedded").OpenCodeHost;
declare const sessionID: string;

// The compiler refuses the declarations of this package.
declare module "@ai-sdk/google" {
  type Model = import("@ai-sdk/provider").LanguageModelV3;
  export const google: ((id: string) => Model) & { languageModel(id: string): Model };
}
`;

/**
 * @param {Scratch} project The project in which the package is installed.
 * @returns {[string, () => unknown][]}
 */
export function documentProgramChecks(project) {
  const examples = listPrograms().flatMap((program) =>
    program.example ? [{ ...program, example: program.example }] : [],
  );
  return [
    ["the programs of the documents compile", () => compile(project)],
    ...examples.map(
      (program) =>
        /** @type {[string, () => unknown]} */ ([
          `the example of ${program.file}, line ${program.line}`,
          () => runExample(project, program),
        ]),
    ),
  ];
}

/** Libraries that the documents import. */
const LIBRARIES = ["zod", "@ai-sdk/provider"];

/** @param {Scratch} project */
function compile(project) {
  for (const library of LIBRARIES) {
    const link = project.path("node_modules", library);
    mkdirSync(path.dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(inProject("node_modules", library), link, "junction");
  }
  project.write(`${FOLDER}/globals.d.ts`, GLOBALS);
  for (const program of listPrograms()) project.write(`${FOLDER}/${nameOf(program)}.ts`, program.text);
  return build(project, FOLDER, `../${BUILT}`, { moduleDetection: "force" });
}

/**
 * A file name with the document and the line, so that the compiler reports the place of a mistake.
 *
 * @param {Program} program
 */
function nameOf({ file, line }) {
  return `${file.replace(/\.md$/, "").replaceAll("/", "-")}-line-${line}`;
}

/**
 * @param {Scratch} project
 * @param {Program & { example: Example }} program
 */
async function runExample(project, program) {
  const { prints, replies = [{ text: prints }], files = {}, serve = false } = program.example;
  const folder = `work/${nameOf(program)}`;
  mkdirSync(project.path(folder, "home"), { recursive: true });
  for (const [file, text] of Object.entries(files)) project.write(`${folder}/${file}`, text);
  await withModel(async (model) => {
    model.reply(...replies);
    const home = project.path(folder, "home");
    const env = userlessEnv(project, { ...modelEnv(model), HOME: home, USERPROFILE: home });
    const run = (/** @type {Record<string, string>} */ more) =>
      mustRun(node(project.path(BUILT, `${nameOf(program)}.js`)), {
        cwd: project.path(folder),
        env: { ...env, ...more },
      });
    const output = serve ? await withServer(project, model, (url) => run({ OPENCODE_URL: url })) : await run({});
    mustContain(output, prints);
  });
}

/**
 * A host in this process that listens while `use` runs.
 *
 * @template T
 * @param {Scratch} project
 * @param {{ config(): object }} model
 * @param {(url: string) => Promise<T>} use
 */
async function withServer(project, model, use) {
  // Imported here, because an earlier stage builds the addon.
  const { OpenCode } = await import("../../index.mjs");
  const config = /** @type {import("../../index.js").JsonObject} */ (model.config());
  const options = { directory: project.folder, home: project.path("home"), env: {}, database: ":memory:", config };
  const host = await OpenCode.create(options);
  try {
    const listener = await host.listen();
    return await use(listener.clientUrl);
  } finally {
    await host.close();
  }
}
