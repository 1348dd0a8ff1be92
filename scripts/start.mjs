// Runs one session in this terminal: npm start [-- [--model <id>] [--directory <folder>] <prompt>].
//
// With OPENAI_API_KEY (or OPENAI_BASE_URL for a server without keys) it asks that model about your directory. Without,
// it runs a small project with a scripted model server.

import { parseArgs } from "node:util";
import { ensureAddon } from "./lib/addon.mjs";
import { compileSources } from "./lib/compile.mjs";
import { Failure, messageOf, runScript } from "./lib/failure.mjs";
import { runQuietly, showTask } from "./lib/task.mjs";
import { prepareDemo } from "./start/demo.mjs";
import { prepareProvider } from "./start/provider.mjs";

await runScript(async () => {
  const { values, positionals } = readArguments();
  const hasModel = Boolean(process.env.OPENAI_API_KEY || process.env.OPENAI_BASE_URL);
  if (!hasModel && (positionals.length > 0 || Object.keys(values).length > 0)) {
    throw new Failure(
      "Set OPENAI_API_KEY to ask your own question. Without it, npm start runs a scripted session without a prompt",
    );
  }
  // Reports mistakes of the user before a build that takes minutes.
  const own = hasModel ? prepareProvider(values, positionals.join(" ")) : undefined;
  await buildPackage();
  // It imports the package, whose JavaScript does not exist before the first build.
  const { runAndReopen } = await import("./start/session.mjs");
  const setup = own ?? (await prepareDemo());
  try {
    await runAndReopen(setup);
  } finally {
    await setup.end();
  }
});

/** npm downloads the compiler while cargo compiles, so the first start is not longer for it. */
async function buildPackage() {
  const compiling = compileSources(runQuietly);
  let isCompiled = false;
  compiling.then(
    () => (isCompiled = true),
    () => (isCompiled = true),
  );
  await ensureAddon();
  await showTask("Installing npm dependencies", (say) => {
    if (!isCompiled) say("");
    return compiling;
  });
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { model: { type: "string" }, directory: { type: "string" } } });
  } catch (error) {
    throw new Failure(messageOf(error));
  }
}
