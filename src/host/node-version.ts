// The first file that runs. Older versions of Node must be able to parse it.

import { oldestNode } from "./package.js";

/**
 * Throws if the package does not support this version of Node. Bun and Deno report the version of Node that they
 * resemble.
 */
export function requireSupportedNode() {
  if (typeof process !== "object" || process.versions.bun || process.versions.deno) return;
  if (parseInt(process.versions.node, 10) >= oldestNode) return;
  throw new Error(`opencode-embedded needs Node ${oldestNode} or newer; this is ${process.version}`);
}
