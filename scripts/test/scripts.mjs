// Tests of the logic in these scripts.

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { readDepInfo } from "../lib/addon.mjs";
import { BuildProgress, formatLeft } from "../lib/build-progress.mjs";
import { Failure } from "../lib/failure.mjs";
import { listViolations } from "../lib/imports.mjs";
import { run } from "../lib/process.mjs";
import { inProject } from "../lib/project.mjs";
import { node } from "../lib/tools.mjs";
import { parseStages } from "./arguments.mjs";
import { runChecks } from "./checks.mjs";
import { splitFilters } from "./rust.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";

/** @type {import("./report.mjs").Stage} */
export const scripts = {
  title: "Scripts",
  run: (say) =>
    runChecks(
      [
        ["words after a stage are its filters", filters],
        ["a word without a stage is refused", wordWithoutStage],
        ["a word after a stage without filters is refused", wordBehindUnfiltered],
        ["a filter of Rust tests is a crate or a name", rustFilters],
        ["packages are counted once", countsPackages],
        ["the remaining time of a build is estimated from the compiled crates", estimates],
        ["fresh packages take no time", ignoresFresh],
        ["the estimate counts down between two messages", countsDown],
        ["durations are rounded", rounds],
        ["the sources of a library are read", depInfo],
        ["lines are complete", wholeLines],
        ["an import of a higher module is reported", importsOfHigherModules],
        ["npm start loads before the package is compiled", startsUncompiled],
      ],
      say,
    ),
};

const STAGES = { jest: { takesFilters: true }, rust: { takesFilters: true }, types: {} };

function filters() {
  const chosen = parseStages(["jest", "sessions", "turn", "types", "rust"], STAGES);
  assert.deepEqual(
    [...chosen],
    [
      ["jest", ["sessions", "turn"]],
      ["types", []],
      ["rust", []],
    ],
  );
  assert.equal(parseStages([], STAGES).size, 0);
}

function wordWithoutStage() {
  const expected = new Failure("Unknown stage sessions. Use one of jest, rust, types");
  assert.throws(() => parseStages(["sessions", "jest"], STAGES), expected);
  assert.throws(() => parseStages(["toString"], STAGES), Failure);
}

function wordBehindUnfiltered() {
  const expected = new Failure(
    "Unknown stage sessions, and the stage types takes no filters. Only jest, rust take filters",
  );
  assert.throws(() => parseStages(["types", "sessions"], STAGES), expected);
}

function rustFilters() {
  assert.deepEqual(splitFilters([]), { packages: ["--workspace"], names: [] });
  assert.deepEqual(splitFilters(["slug"]), { packages: ["--workspace"], names: ["slug"] });
  assert.deepEqual(splitFilters(["runtime", "slug", "tests"]), {
    packages: ["--package", "opencode-runtime", "--package", "opencode-tests"],
    names: ["slug"],
  });
}

/** Ten libraries, one of which is in the tree twice, and two crates of the project. */
const TREE = [
  "opencode-node v0.1.0 (/project/crates/node)",
  "opencode-store v0.1.0 (/project/crates/store)",
  ...Array.from({ length: 9 }, (_, index) => `library-${index} v1.${index}.0`),
  "derive v1.0.0 (proc-macro)",
  "library-1 v1.1.0 (*)",
  "",
].join("\n");

/**
 * @param {string} name
 * @param {boolean} [fresh]
 * @param {string} [kind]
 */
const library = (name, fresh = false, kind = "lib") => ({
  reason: "compiler-artifact",
  package_id: `registry+https://example.com/index#${name}@1.0.0`,
  target: { kind: [kind] },
  fresh,
});

function countsPackages() {
  const progress = new BuildProgress();
  assert.equal(progress.describe(0), "0 crates");
  progress.expect(TREE);
  progress.hear(library("a", false, "custom-build"), 100);
  assert.equal(progress.describe(100), "0 of 12 crates");
  progress.hear(library("a"), 200);
  progress.hear(library("a"), 300);
  assert.equal(progress.describe(300), "1 of 12 crates");
}

function estimates() {
  const progress = new BuildProgress(32);
  progress.begin(1000);
  progress.expect(TREE);
  // Ten libraries are ready after ten seconds. The remaining crate has the weight 8, and the last one 32.
  for (let index = 1; index <= 10; index += 1) progress.hear(library(`library-${index}`), 1000 + index * 1000);
  assert.equal(progress.describe(11_000), "10 of 12 crates, about 40 s left");
  const store = { ...library("store"), package_id: "path+file:///project/crates/store#opencode-store@0.1.0" };
  progress.hear(store, 19_000);
  assert.equal(progress.describe(19_000), "11 of 12 crates, about 35 s left");
}

function ignoresFresh() {
  const progress = new BuildProgress(1);
  progress.expect(TREE);
  for (let index = 1; index <= 10; index += 1) progress.hear(library(`library-${index}`, true), 10);
  assert.equal(progress.describe(5000), "10 of 12 crates");
  progress.hear({ ...library("store"), package_id: "path+file:///project/crates/store#opencode-store@0.1.0" }, 40_000);
  assert.equal(progress.describe(40_000), "11 of 12 crates, about 5 s left");
}

function countsDown() {
  const progress = new BuildProgress(32);
  progress.expect(TREE);
  for (let index = 1; index <= 10; index += 1) progress.hear(library(`library-${index}`), index * 1000);
  assert.equal(progress.describe(20_000), "10 of 12 crates, about 30 s left");
  assert.equal(progress.describe(70_000), "10 of 12 crates, a few seconds left");
}

function rounds() {
  assert.equal(formatLeft(-1), "a few seconds left");
  assert.equal(formatLeft(5001), "about 10 s left");
  assert.equal(formatLeft(59_000), "about 1 min left");
  assert.equal(formatLeft(95_000), "about 1 min 40 s left");
}

function depInfo() {
  const text = "/a b/target/lib.so: /a\\ b/src/lib.rs /c/build.rs\n\n/c/build.rs:\n";
  assert.deepEqual(readDepInfo("/t/lib.so: /a\\ b/src/lib.rs /c/build.rs\n"), ["/a b/src/lib.rs", "/c/build.rs"]);
  assert.deepEqual(readDepInfo(text.replace("/a b", "/a\\ b")), ["/a b/src/lib.rs", "/c/build.rs"]);
  assert.deepEqual(readDepInfo(""), []);
}

/** One line arrives in two pieces, and two lines arrive in one piece. */
async function wholeLines() {
  const program = 'process.stdout.write("one\\ntw", () => setTimeout(() => process.stdout.write("o\\nthree\\n"), 20))';
  /** @type {string[]} */
  const lines = [];
  await run(node("--eval", program), { onLine: (line) => lines.push(line) });
  assert.deepEqual(lines, ["one", "two", "three"]);
}

function importsOfHigherModules() {
  const sources = [
    { path: "lib.rs", text: "mod low;\nmod high;\npub struct Root;\n#[cfg(test)]\nmod tests;\n" },
    { path: "main.rs", text: "use crate::high::High;\n" },
    {
      path: "low.rs",
      text: "use std::fmt;\n// use crate::high::Comment;\n#[cfg(test)]\nmod inner {\n    use crate::high::Test;\n}\n",
    },
    { path: "high/mod.rs", text: "mod part;\nuse crate::low::Low;\n" },
    { path: "high/part.rs", text: "use super::High;\n" },
    { path: "tests.rs", text: "use crate::high::High;\n" },
  ];
  assert.deepEqual(listViolations(sources, ["low", "high"]), []);
  assert.deepEqual(listViolations(sources, ["high", "low"]), ["high/mod.rs of high imports low"]);
  assert.deepEqual(listViolations(sources, ["low", "high", "gone"]), ["the module gone does not exist"]);
  assert.deepEqual(listViolations(sources, ["low"]).slice(0, 1), ["the module high is not listed"]);
  for (const text of [
    "use super::high::High;",
    "use crate::{low::Low, high::{self, High}};",
    "fn run(it: crate::high::High) {}",
    "use crate::Root;",
  ]) {
    const changed = sources.map((source) => (source.path === "low.rs" ? { ...source, text } : source));
    const target = text.includes("Root") ? "the root of the crate" : "high";
    assert.deepEqual(listViolations(changed, ["low", "high"]), [`low.rs of low imports ${target}`], text);
  }
  const deep = [...sources, { path: "low/deep.rs", text: "use super::super::high::High;" }];
  assert.deepEqual(listViolations(deep, ["low", "high"]), ["low/deep.rs of low imports high"]);
}

/** A fresh clone has no dependencies of npm and no compiled files. A wrong call ends before the build. */
async function startsUncompiled() {
  const scratch = createScratch();
  try {
    for (const part of ["package.json", "index.js", "index.mjs", "src", "scripts", "testkit"]) {
      cpSync(inProject(part), scratch.path(part), { recursive: true });
    }
    const command = node(scratch.path("scripts/start.mjs"), "a prompt without a model");
    const { code, output } = await run(command, { cwd: scratch.folder, env: userlessEnv(scratch) });
    assert.equal(code, 1, output);
    assert.match(output, /Set OPENAI_API_KEY/);
  } finally {
    scratch.remove();
  }
}
