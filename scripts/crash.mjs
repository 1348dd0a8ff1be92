// Kills a session engine again and again and looks what is left: npm run crash [-- kills [--seed n]].
//
// `npm run crash -- again <folder>` and `-- check <folder>` go back to a run that went wrong.

import { runScript } from "./lib/failure.mjs";
import { runInForeground } from "./lib/process.mjs";
import { cargo } from "./lib/tools.mjs";

const COMMANDS = ["kills", "again", "check"];

await runScript(async () => {
  const words = process.argv.slice(2);
  const command = COMMANDS.includes(words[0]) ? words : ["kills", ...words];
  process.exitCode = await runInForeground(
    cargo("run", "--quiet", "--locked", "--package", "opencode-tests", "--bin", "crash", "--", ...command),
  );
});
