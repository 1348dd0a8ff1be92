"use strict";
// The modules of Node that this package needs. A bundle in ESM has no `require`, but it has
// `process.getBuiltinModule` since Node 20.16.
Object.defineProperty(exports, "__esModule", { value: true });
exports.createRequire = exports.url = exports.timers = exports.path = exports.os = exports.fs = void 0;
const module_ = process.getBuiltinModule?.("node:module") ?? require("node:module");
exports.fs = process.getBuiltinModule?.("node:fs") ?? require("node:fs");
exports.os = process.getBuiltinModule?.("node:os") ?? require("node:os");
exports.path = process.getBuiltinModule?.("node:path") ?? require("node:path");
exports.timers = process.getBuiltinModule?.("node:timers") ?? require("node:timers");
exports.url = process.getBuiltinModule?.("node:url") ?? require("node:url");
({ createRequire: exports.createRequire } = module_);
