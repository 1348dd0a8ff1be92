// Everything that has to hold, one stage after the other: npm test [-- stages].
//
// A failure stops nothing. The last line is `N passed, N failed`: tests of cargo and Jest, and every other check.

import { ensureDependencies } from "./lib/dependencies.mjs";
import { Failure, runScript } from "./lib/failure.mjs";
import { addon } from "./test/addon.mjs";
import { agreement } from "./test/agreement.mjs";
import { examples, start } from "./test/programs.mjs";
import { jest, lint, types } from "./test/javascript.mjs";
import { packages } from "./test/packages.mjs";
import { release } from "./test/release.mjs";
import { Report } from "./test/report.mjs";
import { clippy, codegen, docTests, documentation, format, rustTests } from "./test/rust.mjs";
import { tidy } from "./test/tidy.mjs";

/** What is quick comes first. */
const STAGES = {
  tidy,
  agreement,
  types,
  lint,
  release,
  format,
  rust: rustTests,
  doc: docTests,
  codegen,
  clippy,
  documentation,
  addon,
  jest,
  packages,
  examples,
  start,
};

const NEED_THE_ADDON = ["jest", "packages", "examples", "start"];

await runScript(async () => {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !Object.hasOwn(STAGES, name));
  if (unknown.length > 0) {
    throw new Failure(`There is no stage ${unknown.join(", ")}; there are ${Object.keys(STAGES).join(", ")}`);
  }
  if (names.some((name) => NEED_THE_ADDON.includes(name))) names.push("addon");
  await ensureDependencies();
  const report = new Report();
  for (const [name, stage] of Object.entries(STAGES)) {
    if (names.length === 0 || names.includes(name)) await report.run(stage);
  }
  report.print();
  if (report.failed > 0) process.exitCode = 1;
});
