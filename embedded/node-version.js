"use strict";
// The first file that runs. Older versions of Node must be able to parse it.
Object.defineProperty(exports, "__esModule", { value: true });
exports.requireSupportedNode = requireSupportedNode;
const package_js_1 = require("./package.js");
/**
 * Throws if the package does not support this version of Node. Bun and Deno report the version of Node that they
 * resemble.
 */
function requireSupportedNode() {
    if (typeof process !== "object" || process.versions.bun || process.versions.deno)
        return;
    if (parseInt(process.versions.node, 10) >= package_js_1.oldestNode)
        return;
    throw new Error(`opencode-embedded needs Node ${package_js_1.oldestNode} or newer; this is ${process.version}`);
}
