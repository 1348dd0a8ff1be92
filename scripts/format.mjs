// Formats JavaScript, TypeScript and Rust: npm run format.

import { ensureDependencies } from "./lib/dependencies.mjs";
import { runScript } from "./lib/failure.mjs";
import { runInForeground } from "./lib/process.mjs";
import { cargo, tool } from "./lib/tools.mjs";

await runScript(async () => {
  await ensureDependencies();
  for (const command of [tool("oxfmt", "oxfmt", "."), cargo("fmt", "--all")]) {
    const code = await runInForeground(command);
    if (code !== 0) process.exitCode = code;
  }
});
