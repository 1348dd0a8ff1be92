// Builds the package: npm run build with the release build of the addon, npm run build:debug with the debug build of
// npm start and npm test.

import { parseArgs } from "node:util";
import { buildAddon } from "./lib/addon.mjs";
import { compileSources } from "./lib/compile.mjs";
import { runScript } from "./lib/failure.mjs";

await runScript(async () => {
  const { values } = parseArgs({ options: { debug: { type: "boolean", default: false } } });
  const profile = values.debug ? "debug" : "release";
  await compileSources();
  await buildAddon(profile);
  console.log(`The package is compiled. The addon is the ${profile} build, and up to date`);
});
