"use strict";
// The first file that runs: older versions of Node must be able to parse it.
Object.defineProperty(exports, "__esModule", { value: true });
exports.requireSupportedNode = requireSupportedNode;
const package_js_1 = require("./package.js");
/** Throws when this is a Node that the package does not support. Bun and Deno only tell which Node they resemble. */
function requireSupportedNode() {
    if (typeof process !== "object" || process.versions.bun || process.versions.deno)
        return;
    if (parseInt(process.versions.node, 10) >= package_js_1.oldestNode)
        return;
    throw new Error(`opencode-embedded needs Node ${package_js_1.oldestNode} or newer; this is ${process.version}`);
}
