// The modules of Node that this package needs. A bundle in ESM has no `require`, but it has
// `process.getBuiltinModule` since Node 20.16.

const module_: typeof import("node:module") = process.getBuiltinModule?.("node:module") ?? require("node:module");
export const fs: typeof import("node:fs") = process.getBuiltinModule?.("node:fs") ?? require("node:fs");
export const os: typeof import("node:os") = process.getBuiltinModule?.("node:os") ?? require("node:os");
export const path: typeof import("node:path") = process.getBuiltinModule?.("node:path") ?? require("node:path");
export const timers: typeof import("node:timers") = process.getBuiltinModule?.("node:timers") ?? require("node:timers");
export const url: typeof import("node:url") = process.getBuiltinModule?.("node:url") ?? require("node:url");
export const { createRequire } = module_;
