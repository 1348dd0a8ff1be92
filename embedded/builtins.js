"use strict";

// The modules of Node that this package needs. A bundle in ESM has no `require`, but it has
// `process.getBuiltinModule`, from Node 20.16 on.

const module_ = process.getBuiltinModule?.("node:module") ?? require("node:module");
const fs = process.getBuiltinModule?.("node:fs") ?? require("node:fs");
const os = process.getBuiltinModule?.("node:os") ?? require("node:os");
const path = process.getBuiltinModule?.("node:path") ?? require("node:path");
const url = process.getBuiltinModule?.("node:url") ?? require("node:url");

module.exports = { createRequire: module_.createRequire, fs, os, path, url };
