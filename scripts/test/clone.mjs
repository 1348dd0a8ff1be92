// Installs a clone by its path into a program, as its developers do, and compiles the program with the strictest options.
// TypeScript follows the link to the clone, where it would prefer a source to the declaration beside it.

import { cpSync, symlinkSync } from "node:fs";
import { inProject } from "../lib/project.mjs";
import { npm } from "../lib/tools.mjs";
import { mustRun } from "./checks.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";
import { typeChecks } from "./type-project.mjs";

/** The parts of a clone that npm and the compiler use. */
const PARTS = [
  "index.d.mts",
  "index.d.ts",
  "index.js",
  "index.mjs",
  "package-lock.json",
  "package.json",
  "scripts",
  "src",
  "tsconfig.build.json",
  "tsconfig.json",
];

export async function checkClone() {
  const [clone, project] = [createScratch(), createScratch()];
  try {
    for (const part of PARTS) cpSync(inProject(part), clone.path(part), { recursive: true });
    symlinkSync(inProject("node_modules"), clone.path("node_modules"), "junction");
    project.write("package.json", JSON.stringify({ name: "empty", private: true }));
    const install = npm("install", "--offline", "--no-audit", "--no-fund", clone.folder);
    await mustRun(install, { cwd: project.folder, env: userlessEnv(project) });
    for (const [, check] of typeChecks(project)) await check();
  } finally {
    project.remove();
    clone.remove();
  }
}
