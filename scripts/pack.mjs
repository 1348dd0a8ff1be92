// Packs a release into `tarballs/`: npm run pack [-- --prebuilt].
//
// Packs the package, and one package for each platform for which the project contains a binary. The release build of
// this platform is made first, unless `--prebuilt` states that all binaries exist.

import { buildAddon } from "./lib/addon.mjs";
import { readArguments } from "./lib/arguments.mjs";
import { compileSources } from "./lib/compile.mjs";
import { runScript } from "./lib/failure.mjs";
import { builtPlatforms, packAll } from "./lib/pack.mjs";
import { root } from "./lib/project.mjs";
import { formatSize } from "./lib/terminal.mjs";
import { statSync } from "node:fs";
import path from "node:path";

await runScript(async () => {
  const { values } = readArguments({ options: { prebuilt: { type: "boolean", default: false } } });
  await compileSources();
  if (!values.prebuilt) await buildAddon("release");
  for (const file of await packAll(builtPlatforms())) {
    console.log(`${path.relative(root, file)}  ${formatSize(statSync(file).size)}`);
  }
});
