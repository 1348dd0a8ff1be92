// The JavaScript of the package: `src/` is written in TypeScript and compiled to `dist/`.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { ensureDependencies } from "./dependencies.mjs";
import { Failure } from "./failure.mjs";
import { run } from "./process.mjs";
import { inProject } from "./project.mjs";
import { tool } from "./tools.mjs";

/**
 * Compiles the sources. It installs the compiler before if it is missing.
 *
 * @param {typeof import("./task.mjs").runTask} [runTask] Runs the installation.
 */
export async function compileSources(runTask) {
  if (process.env.JEST_WORKER_ID !== undefined) {
    throw new Failure(
      "A test compiles the package",
      "Other tests load its files at that time, and can find them empty.",
    );
  }
  await ensureDependencies(runTask);
  await compile();
}

/** Compiles the sources with the installed compiler, which empties each file before it writes it. */
export async function compile() {
  removeOrphans();
  const { code, output } = await run(tool("typescript", "tsc", "-p", "tsconfig.build.json"));
  if (code !== 0) throw new Failure("TypeScript refuses the sources of the package", output);
}

/** A file without a source would be published. */
function removeOrphans() {
  if (!existsSync(inProject("dist"))) return;
  for (const file of readdirSync(inProject("dist"), { recursive: true, encoding: "utf8" })) {
    const source = file.replace(/(?:\.d)?\.(m?)[jt]s$/, ".$1ts");
    if (!existsSync(inProject("src", source))) rmSync(inProject("dist", file), { recursive: true, force: true });
  }
}
