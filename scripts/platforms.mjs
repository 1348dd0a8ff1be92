// Writes the packages of the platforms in `npm/` and the files of the loader that name them. Run it after a change of
// the version, of the targets or of the oldest Node.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { runScript } from "./lib/failure.mjs";
import { loaderFiles } from "./lib/loader.mjs";
import { listPlatforms, platformFiles } from "./lib/platforms.mjs";
import { inProject } from "./lib/project.mjs";

await runScript(async () => {
  rmSync(inProject("npm"), { recursive: true, force: true });
  for (const platform of listPlatforms()) {
    mkdirSync(inProject("npm", platform.name), { recursive: true });
    for (const [file, text] of Object.entries(platformFiles(platform))) {
      writeFileSync(inProject("npm", platform.name, file), text);
    }
  }
  for (const [file, text] of Object.entries(loaderFiles())) writeFileSync(inProject(file), text);
});
