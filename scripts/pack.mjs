// Packs what a release publishes from this platform, into `dist/`: npm run pack.

import { statSync } from "node:fs";
import path from "node:path";
import { buildAddon } from "./lib/addon.mjs";
import { ensureDependencies } from "./lib/dependencies.mjs";
import { runScript } from "./lib/failure.mjs";
import { packAll } from "./lib/pack.mjs";
import { root } from "./lib/project.mjs";

await runScript(async () => {
  await ensureDependencies();
  await buildAddon("release");
  for (const file of await packAll()) {
    console.log(`${path.relative(root, file)}  ${(statSync(file).size / 1024).toFixed(0)} KiB`);
  }
});
