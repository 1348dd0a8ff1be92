// Runs the benches with the release build of the addon: npm run bench [-- names].

import { buildAddon } from "./lib/addon.mjs";
import { compileSources } from "./lib/compile.mjs";
import { runScript } from "./lib/failure.mjs";
import { runInForeground } from "./lib/process.mjs";
import { inProject } from "./lib/project.mjs";
import { node } from "./lib/tools.mjs";

await runScript(async () => {
  await compileSources();
  await buildAddon("release");
  process.exitCode = await runInForeground(node(inProject("bench/run.mjs"), ...process.argv.slice(2)));
});
