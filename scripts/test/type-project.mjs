// Programs in TypeScript against the installed package, as strict as the compiler can be, its declarations included.

import { readdirSync, readFileSync } from "node:fs";
import { inProject } from "../lib/project.mjs";
import { tool } from "../lib/tools.mjs";
import { mustRun } from "./checks.mjs";

/** @typedef {import("./scratch.mjs").Scratch} Scratch */

/** What may and what may not be written. */
const PROGRAMS = inProject("scripts/test/types");

const STRICT = {
  target: "es2022",
  strict: true,
  exactOptionalPropertyTypes: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  isolatedModules: true,
  skipLibCheck: false,
};

const NODE = {
  lib: ["es2022", "esnext.disposable"],
  types: ["node"],
  typeRoots: [inProject("node_modules/@types")],
};

const BROWSER = { lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable"], types: [] };

/** Every way in which TypeScript finds a package, from both kinds of modules. */
const PROJECTS = [
  { name: "node16, ESM", type: "module", options: { ...NODE, module: "node16" } },
  { name: "node16, CommonJS", type: "commonjs", options: { ...NODE, module: "node16" } },
  { name: "bundler, ESM", type: "module", options: { ...NODE, module: "esnext", moduleResolution: "bundler" } },
  {
    name: "bundler, CommonJS",
    type: "commonjs",
    options: { ...NODE, module: "commonjs", moduleResolution: "bundler" },
  },
  // A page has no host, and knows nothing of Node.
  {
    name: "bundler, browser",
    type: "module",
    options: { ...BROWSER, module: "esnext", moduleResolution: "bundler" },
    without: ["config.ts", "host.ts"],
  },
];

/**
 * @param {Scratch} project Where the package is installed.
 * @returns {[string, () => unknown][]}
 */
export function typeChecks(project) {
  return PROJECTS.map((kind) => [`types, ${kind.name}`, () => checkTypes(project, kind)]);
}

/**
 * @param {Scratch} project
 * @param {{ name: string, type: string, options: object, without?: string[] }} kind
 */
async function checkTypes(project, { name, type, options, without = [] }) {
  const folder = `types-${name.replace(/\W+/g, "-")}`;
  project.write(`${folder}/package.json`, JSON.stringify({ type }));
  for (const file of readdirSync(PROGRAMS)) {
    if (!without.includes(file)) project.write(`${folder}/${file}`, readFileSync(`${PROGRAMS}/${file}`, "utf8"));
  }
  await compile(project, folder, { ...options, noEmit: true });
}

/**
 * Compiles the TypeScript of a folder of the project for Node, and writes it into another one.
 *
 * @param {Scratch} project
 * @param {string} folder
 * @param {string} outDir
 * @param {object} [more] Further options of the compiler.
 */
export function build(project, folder, outDir, more) {
  return compile(project, folder, {
    ...NODE,
    module: "node16",
    rewriteRelativeImportExtensions: true,
    outDir,
    ...more,
  });
}

/**
 * @param {Scratch} project
 * @param {string} folder
 * @param {object} options
 */
async function compile(project, folder, options) {
  const settings = { compilerOptions: { ...STRICT, ...options }, include: ["*.ts"] };
  project.write(`${folder}/tsconfig.json`, JSON.stringify(settings));
  await mustRun(tool("typescript", "tsc", "-p", project.path(folder)), { cwd: project.folder });
}
