// The files of the loader that repeat the manifest: a bundle has no `package.json` to read.

import { listPlatforms, platformPackageName } from "./platforms.mjs";
import { readManifest } from "./project.mjs";

const HEAD = "// Written by `node scripts/platforms.mjs` from package.json. Do not edit.";

/**
 * The files as they have to be, by path.
 *
 * @returns {Record<string, string>}
 */
export function loaderFiles() {
  return { "embedded/package.js": renderFacts(), "embedded/inlined-addon.js": renderInlinedAddon() };
}

function renderFacts() {
  const { name, version, engines } = readManifest();
  const names = listPlatforms().map((platform) => `    ${JSON.stringify(platform.name)},\n`);
  return `${HEAD}
"use strict";

// What the loader has to know of the package.

module.exports = {
  name: ${JSON.stringify(name)},
  version: ${JSON.stringify(version)},
  oldestNode: ${parseInt(engines.node.replace(">=", ""), 10)},
  platforms: [
${names.join("")}  ],
};
`;
}

/** Bun puts a binary into an executable when it sees what is required. */
function renderInlinedAddon() {
  const cases = listPlatforms().map((platform) => {
    const name = platformPackageName(platform);
    return `      case "${platform.name}":
        return {
          addon: require("${name}"),
          version: require("${name}/package.json").version,
        };
`;
  });
  return `${HEAD}
// @ts-nocheck: at most one of these packages is installed.
"use strict";

// \`#inlined-addon\` for Bun, which puts the binary into an executable when it sees the name of its package.

/**
 * @param {string} platform
 * @returns {{ addon: import("./native.js").Addon, version: string } | undefined}
 */
function loadInlinedAddon(platform) {
  try {
    switch (platform) {
${cases.join("")}      default:
        return undefined;
    }
  } catch {
    // The search that follows finds the same, and says what is wrong with it.
    return undefined;
  }
}

module.exports = { loadInlinedAddon };
`;
}
