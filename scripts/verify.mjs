// Checks the tarballs in `tarballs/` as users of this platform and this Node install them: node scripts/verify.mjs.

import { ensureDependencies } from "./lib/dependencies.mjs";
import { runScript } from "./lib/failure.mjs";
import { requireTarballs } from "./lib/release.mjs";
import { currentPlatform, platformPackageName } from "./lib/platforms.mjs";
import { readManifest } from "./lib/project.mjs";
import { checkTarballs } from "./test/packages.mjs";
import { Report } from "./test/report.mjs";

await runScript(async () => {
  const names = [readManifest().name, platformPackageName(currentPlatform())];
  const [root, platform] = requireTarballs(names);
  await ensureDependencies();
  const report = new Report();
  const title = `${names.join(" and ")}, ${process.version}`;
  await report.run({ title, run: (say) => checkTarballs(root.file, platform.file, say) }, []);
  report.print();
  if (report.failed > 0) process.exitCode = 1;
});
