// The weight of the package: the addon, its download, the crates that it is made of, and what an import, an open and a
// first session add to a bare process of Node. It fails past a bound.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundleModules } from "../../scripts/lib/bundle.mjs";
import { report } from "../lib/report.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MIB = 1024 * 1024;

const START = `
  const fs = require("node:fs"), os = require("node:os"), path = require("node:path");
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"));
  const memory = () => { globalThis.gc(); return process.memoryUsage().rss; };
  const before = memory();
  const begun = performance.now();
  const { OpenCode } = require(process.argv[1]);
  OpenCode.create({ directory: root, home: root, env: {}, log: "off", database: path.join(root, "a.db") })
    .then(async (host) => {
      await host.sessions.create();
      const ms = performance.now() - begun;
      console.log(JSON.stringify({ ms, added: memory() - before }));
      await host.close();
      fs.rmSync(root, { recursive: true, force: true });
    });
`;

const addon = fs.readdirSync(ROOT).find((name) => name.endsWith(".node"));
if (addon === undefined) throw new Error("There is no addon: run npm run build");
const bytes = fs.readFileSync(path.join(ROOT, addon));
const tree = execFileSync(
  "cargo",
  ["tree", "--locked", "--package", "opencode-node", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"],
  { cwd: ROOT, encoding: "utf8" },
);
const crates = new Set(tree.split("\n").map((line) => line.replace(/ \(.*/, "").trim()));
crates.delete("");
// The package as it is published: its modules are joined.
const published = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"));
process.on("exit", () => fs.rmSync(published, { recursive: true, force: true }));
for (const file of ["index.js", "package.json", "dist"])
  fs.cpSync(path.join(ROOT, file), path.join(published, file), { recursive: true });
fs.symlinkSync(path.join(ROOT, addon), path.join(published, addon));
await bundleModules(path.join(published, "dist"));
const starts = Array.from({ length: 9 }, () =>
  JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", "-e", START, published], { encoding: "utf8", cwd: os.tmpdir() }),
  ),
);

const bounds = [
  report("size of the addon", "MB", [bytes.length / 1e6], { atMost: 31.5 }),
  report("size of the addon, compressed", "MiB", [gzipSync(bytes, { level: 9 }).length / MIB], { atMost: 14 }),
  report("crates of the addon", "crates", [crates.size], { atMost: 378 }),
  report(
    "memory added by import, open and a session",
    "MiB",
    starts.map(({ added }) => added / MIB),
    { atMost: 24 },
  ),
];
// A busy machine is slower, so the time has no bound.
report(
  "import, open and create a session",
  "ms",
  starts.map(({ ms }) => ms),
);
if (bounds.includes(false)) process.exitCode = 1;
