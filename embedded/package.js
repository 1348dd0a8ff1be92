"use strict";
// Written by `node scripts/platforms.mjs` from package.json. Do not edit.
Object.defineProperty(exports, "__esModule", { value: true });
exports.platforms = exports.oldestNode = exports.version = exports.name = void 0;
// Facts about the package that the loader needs.
exports.name = "opencode-embedded";
exports.version = "0.1.0";
/** Oldest major version of Node that can run the package. */
exports.oldestNode = 20;
/** The platforms with a binary. */
exports.platforms = [
    "linux-x64-gnu",
    "linux-x64-musl",
    "linux-arm64-gnu",
    "linux-arm64-musl",
    "darwin-x64",
    "darwin-arm64",
    "win32-x64-msvc",
    "win32-arm64-msvc",
];
