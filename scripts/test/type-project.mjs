// Compiles TypeScript programs against the installed package, with the strictest options of the compiler, also for the
// declarations of the package.

import { readdirSync, readFileSync } from "node:fs";
import { inProject } from "../lib/project.mjs";
import { tool } from "../lib/tools.mjs";
import { mustRun } from "./checks.mjs";

/** @typedef {import("./scratch.mjs").Scratch} Scratch */

/** Programs with code that must compile, and with code that must not. */
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

/** Every way in which TypeScript resolves a package, from both kinds of modules. */
const PROJECTS = [
  { name: "node16, ESM", type: "module", options: { ...NODE, module: "node16" } },
  { name: "node16, CommonJS", type: "commonjs", options: { ...NODE, module: "node16" } },
  { name: "bundler, ESM", type: "module", options: { ...NODE, module: "esnext", moduleResolution: "bundler" } },
  {
    name: "bundler, CommonJS",
    type: "commonjs",
    options: { ...NODE, module: "commonjs", moduleResolution: "bundler" },
  },
  // A page has no host, and no types of Node.
  {
    name: "bundler, browser",
    type: "module",
    options: { ...BROWSER, module: "esnext", moduleResolution: "bundler" },
    without: ["config.ts", "host.ts"],
  },
];

/**
 * @param {Scratch} project The project in which the package is installed.
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
 * Compiles a folder of TypeScript in the project for Node, and writes the result into another folder.
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
