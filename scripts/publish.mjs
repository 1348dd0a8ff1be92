// Publishes the tarballs in `tarballs/`: node scripts/publish.mjs [--dry-run] <tag>.
//
// The tag is `v` and the version of `package.json`. NPM_TOKEN, if set, is the token for the publication. Without it,
// npm gets its identity from the workflow in which it runs. `--dry-run` checks everything and publishes nothing.

import { readArguments } from "./lib/arguments.mjs";
import { runScript } from "./lib/failure.mjs";
import { checkRelease, publish } from "./lib/release.mjs";

await runScript(async () => {
  const options = /** @type {const} */ ({ "dry-run": { type: "boolean", default: false } });
  const { values, positionals } = readArguments({ allowPositionals: true, options });
  const tarballs = await checkRelease(positionals[0]);
  for (const tarball of tarballs) {
    if (values["dry-run"]) console.log(`would publish  ${tarball.name}`);
    else console.log(`${(await publish(tarball)) ? "published" : "already published"}  ${tarball.name}`);
  }
});
