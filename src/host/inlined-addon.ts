// Written by `node scripts/platforms.mjs` from package.json. Do not edit.

// `#inlined-addon` for Bun, which puts the binary into an executable when it sees the name of its package.

import type { InlinedAddon } from "./native.js";

export function loadInlinedAddon(platform: string): InlinedAddon | undefined {
  try {
    switch (platform) {
      case "linux-x64-gnu":
        return {
          addon: require("opencode-embedded-linux-x64-gnu"),
          version: require("opencode-embedded-linux-x64-gnu/package.json").version,
        };
      case "linux-x64-musl":
        return {
          addon: require("opencode-embedded-linux-x64-musl"),
          version: require("opencode-embedded-linux-x64-musl/package.json").version,
        };
      case "linux-arm64-gnu":
        return {
          addon: require("opencode-embedded-linux-arm64-gnu"),
          version: require("opencode-embedded-linux-arm64-gnu/package.json").version,
        };
      case "linux-arm64-musl":
        return {
          addon: require("opencode-embedded-linux-arm64-musl"),
          version: require("opencode-embedded-linux-arm64-musl/package.json").version,
        };
      case "darwin-x64":
        return {
          addon: require("opencode-embedded-darwin-x64"),
          version: require("opencode-embedded-darwin-x64/package.json").version,
        };
      case "darwin-arm64":
        return {
          addon: require("opencode-embedded-darwin-arm64"),
          version: require("opencode-embedded-darwin-arm64/package.json").version,
        };
      case "win32-x64-msvc":
        return {
          addon: require("opencode-embedded-win32-x64-msvc"),
          version: require("opencode-embedded-win32-x64-msvc/package.json").version,
        };
      case "win32-arm64-msvc":
        return {
          addon: require("opencode-embedded-win32-arm64-msvc"),
          version: require("opencode-embedded-win32-arm64-msvc/package.json").version,
        };
      default:
        return undefined;
    }
  } catch {
    // The search that follows also finds nothing, and its failure says why.
    return undefined;
  }
}
