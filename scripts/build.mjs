// Builds the addon and its loader: npm run build, or npm run build:debug.

import { parseArgs } from "node:util";
import { ensureAddon } from "./lib/addon.mjs";
import { ensureDependencies } from "./lib/dependencies.mjs";
import { runScript } from "./lib/failure.mjs";

await runScript(async () => {
  const { values } = parseArgs({ options: { debug: { type: "boolean", default: false } } });
  await ensureDependencies();
  await ensureAddon(values.debug ? "debug" : "release");
  console.log("The addon is up to date");
});
