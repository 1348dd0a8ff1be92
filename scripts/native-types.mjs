// Writes `src/host/native-types.ts`, after a change of the exports of the addon.

import { writeFileSync } from "node:fs";
import { ensureAddon } from "./lib/addon.mjs";
import { runScript } from "./lib/failure.mjs";
import { NATIVE_TYPES, renderNativeTypes } from "./lib/native-types.mjs";
import { inProject } from "./lib/project.mjs";

await runScript(async () => {
  const profile = await ensureAddon();
  writeFileSync(inProject(NATIVE_TYPES), renderNativeTypes(profile));
});
