// Writes `docs/declarations.txt`. Run it after a change of the public declarations.

import { writeFileSync } from "node:fs";
import { compileSources } from "./lib/compile.mjs";
import { DECLARATIONS, readDeclarations } from "./lib/declarations.mjs";
import { runScript } from "./lib/failure.mjs";
import { inProject } from "./lib/project.mjs";

await runScript(async () => {
  await compileSources();
  writeFileSync(inProject(DECLARATIONS), readDeclarations());
});
