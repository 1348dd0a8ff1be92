// Compiles the TypeScript of the package. npm runs it after it has installed the dependencies of a clone.

import { existsSync } from "node:fs";
import { compile } from "./lib/compile.mjs";
import { ensureDependencies } from "./lib/dependencies.mjs";
import { runScript } from "./lib/failure.mjs";
import { inProject } from "./lib/project.mjs";

await runScript(async () => {
  // A program that installs a clone by its path runs this, but npm does not install the dependencies of the clone.
  if (!existsSync(inProject("node_modules/typescript"))) await ensureDependencies();
  await compile();
});
