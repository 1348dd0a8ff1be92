// Compiles the TypeScript of the package. npm runs it after it has installed the dependencies of a clone.

import { compile } from "./lib/compile.mjs";
import { runScript } from "./lib/failure.mjs";

await runScript(compile);
