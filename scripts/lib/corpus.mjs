// The kept inputs of a fuzzing target: `fuzz/corpus/<target>.txt`, one input per line, in which `\xNN` is a byte.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inProject } from "./project.mjs";

/** Larger inputs are not kept, because they reach the same code as smaller ones and enlarge the repository. */
const MAX_KEPT_BYTES = 2048;

/** @param {string} target */
const fileOf = (target) => inProject("fuzz/corpus", `${target}.txt`);

/**
 * Writes the kept inputs of a target into a folder of files, which is the form that the fuzzer reads.
 *
 * @param {string} target
 * @param {string} folder
 */
export function unpackCorpus(target, folder) {
  mkdirSync(folder, { recursive: true });
  const lines = existsSync(fileOf(target)) ? readFileSync(fileOf(target), "utf8").split("\n").slice(0, -1) : [];
  for (const [number, line] of lines.entries()) {
    const bytes = line.replaceAll(/\\x(..)/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
    writeFileSync(path.join(folder, `kept-${number}`), bytes, "latin1");
  }
}

/**
 * Keeps the inputs of a folder instead of those that were kept before.
 *
 * @param {string} target
 * @param {string} folder
 */
export function packCorpus(target, folder) {
  const inputs = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "latin1"));
  const escape = (/** @type {string} */ byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const lines = inputs
    .filter((input) => input.length <= MAX_KEPT_BYTES)
    .map((input) => `${input.replaceAll(/[^ -[\]-~]|^ | $/g, escape)}\n`);
  writeFileSync(fileOf(target), lines.toSorted().join(""));
  rmSync(folder, { recursive: true });
}
