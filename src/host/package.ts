// Written by `node scripts/platforms.mjs` from package.json. Do not edit.

// Facts about the package that the loader needs.

export const name = "opencode-embedded";
export const version = "0.1.0";
/** Oldest major version of Node that can run the package. */
export const oldestNode = 20;
/** The platforms with a binary. */
export const platforms: readonly string[] = [
  "linux-x64-gnu",
  "linux-x64-musl",
  "linux-arm64-gnu",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "win32-x64-msvc",
  "win32-arm64-msvc",
];
