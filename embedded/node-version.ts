// The first file that runs: older versions of Node must be able to parse it.

import { oldestNode } from "./package.js";

/** Throws when this is a Node that the package does not support. Bun and Deno only tell which Node they resemble. */
export function requireSupportedNode() {
  if (typeof process !== "object" || process.versions.bun || process.versions.deno) return;
  if (parseInt(process.versions.node, 10) >= oldestNode) return;
  throw new Error(`opencode-embedded needs Node ${oldestNode} or newer; this is ${process.version}`);
}
