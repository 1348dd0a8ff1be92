// Runs all checks, one stage after the other: npm test [-- [--release] stages and filters].
//
// `npm test -- jest sessions` runs the Jest files that match `sessions`, and `npm test -- rust runtime` the tests of
// one crate. With `--release` the release build of the addon is tested. All stages run even if one fails. The last line
// is `N passed, N failed`: tests of cargo and Jest, and every other check.

import { compileSources } from "./lib/compile.mjs";
import { runScript } from "./lib/failure.mjs";
import { addon, releaseAddon } from "./test/addon.mjs";
import { agreement } from "./test/agreement.mjs";
import { browser } from "./test/browser.mjs";
import { parseStages } from "./test/arguments.mjs";
import { examples, start } from "./test/programs.mjs";
import { jest, lint, types } from "./test/javascript.mjs";
import { packages } from "./test/packages.mjs";
import { release } from "./test/release.mjs";
import { Report } from "./test/report.mjs";
import { clippy, codegen, docTests, documentation, format, rustTests } from "./test/rust.mjs";
import { scripts } from "./test/scripts.mjs";
import { tidy } from "./test/tidy.mjs";

const words = process.argv.slice(2);
const isRelease = words[0] === "--release";

/** Fast stages come first, and later stages reuse their builds. */
const STAGES = {
  tidy,
  agreement,
  scripts,
  types,
  lint,
  release,
  format,
  addon: isRelease ? releaseAddon : addon,
  rust: rustTests,
  doc: docTests,
  codegen,
  clippy,
  documentation,
  jest,
  packages,
  examples,
  start,
  browser,
};

const NEED_THE_ADDON = ["jest", "packages", "examples", "start", "browser"];

await runScript(async () => {
  const chosen = parseStages(isRelease ? words.slice(1) : words, STAGES);
  if (NEED_THE_ADDON.some((name) => chosen.has(name))) chosen.set("addon", []);
  await compileSources();
  const report = new Report();
  for (const [name, stage] of Object.entries(STAGES)) {
    if (chosen.size === 0 || chosen.has(name)) await report.run(stage, chosen.get(name) ?? []);
  }
  report.print();
  if (report.failed > 0) process.exitCode = 1;
});
