// Kills a session engine repeatedly and checks the remaining data: npm run crash [-- kills [--seed n]].
//
// `npm run crash -- again <folder>` repeats a failed run, and `-- check <folder>` checks its data again.

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
