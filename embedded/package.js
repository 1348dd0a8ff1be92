// Written by `node scripts/platforms.mjs` from package.json. Do not edit.
"use strict";

// What the loader has to know of the package.

module.exports = {
  name: "opencode-embedded",
  version: "0.1.0",
  oldestNode: 20,
  platforms: [
    "linux-x64-gnu",
    "linux-x64-musl",
    "linux-arm64-gnu",
    "linux-arm64-musl",
    "darwin-x64",
    "darwin-arm64",
    "win32-x64-msvc",
    "win32-arm64-msvc",
  ],
};
