// Builds the addon for other Linux platforms: npm run cross [-- [--profile <name>] <platform> ...].
//
// A platform is `linux-x64-gnu` or `x86_64-unknown-linux-gnu`. Without a platform, all four are built.

import { statSync } from "node:fs";
import { readArguments } from "./lib/arguments.mjs";
import { crossBuild, findCrossPlatforms } from "./lib/cross.mjs";
import { runScript } from "./lib/failure.mjs";
import { binaryName } from "./lib/platforms.mjs";
import { inProject } from "./lib/project.mjs";
import { formatSize } from "./lib/terminal.mjs";

await runScript(async () => {
  const { values, positionals } = readArguments({
    allowPositionals: true,
    options: { profile: { type: "string", default: "release" } },
  });
  for (const platform of findCrossPlatforms(positionals)) {
    const needs = await crossBuild(platform, values.profile);
    const file = binaryName(platform);
    console.log(`${file}  ${formatSize(statSync(inProject(file)).size)}  ${needs}`);
  }
});
