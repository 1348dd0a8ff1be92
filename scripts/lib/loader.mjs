// The files of the loader that repeat parts of the manifest, because a bundle cannot read `package.json`.

import { listPlatforms, platformPackageName } from "./platforms.mjs";
import { readManifest } from "./project.mjs";

const HEAD = "// Written by `node scripts/platforms.mjs` from package.json. Do not edit.";

/**
 * The required content of the files, by path.
 *
 * @returns {Record<string, string>}
 */
export function loaderFiles() {
  return { "src/host/package.ts": renderFacts(), "src/host/inlined-addon.ts": renderInlinedAddon() };
}

function renderFacts() {
  const { name, version, engines } = readManifest();
  const names = listPlatforms().map((platform) => `  ${JSON.stringify(platform.name)},\n`);
  return `${HEAD}

// Facts about the package that the loader needs.

export const name = ${JSON.stringify(name)};
export const version = ${JSON.stringify(version)};
/** Oldest major version of Node that can run the package. */
export const oldestNode = ${parseInt(engines.node.replace(">=", ""), 10)};
/** The platforms with a binary. */
export const platforms: readonly string[] = [
${names.join("")}];
`;
}

/**
 * Renders a file with a literal `require` for each platform, because Bun puts a binary into an executable only for
 * those.
 */
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

// \`#inlined-addon\` for Bun, which puts the binary into an executable when it sees the name of its package.

import type { InlinedAddon } from "./native.js";

export function loadInlinedAddon(platform: string): InlinedAddon | undefined {
  try {
    switch (platform) {
${cases.join("")}      default:
        return undefined;
    }
  } catch {
    // The search that follows also finds nothing, and its failure says why.
    return undefined;
  }
}
`;
}
