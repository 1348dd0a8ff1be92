// Checks that the glossary names existing types.

import { readFileSync } from "node:fs";
import { inProject, listFiles } from "../lib/project.mjs";
import { mustBeEmpty } from "./checks.mjs";

const DOCUMENT = "docs/glossary.md";

export function checkGlossary() {
  const rows = readFileSync(inProject(DOCUMENT), "utf8").matchAll(/^\| [^|]+ \| [^|]+ \| ([^|]+) \|$/gm);
  const cells = Array.from(rows, ([, cell]) => cell ?? "");
  const names = cells.flatMap((cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, name]) => name ?? ""));
  if (names.length === 0) throw new Error(`${DOCUMENT} names no types`);
  const sources = listFiles().filter((file) => /^crates\/\w+\/src\/.*\.rs$/.test(file));
  const code = sources.map((file) => readFileSync(inProject(file), "utf8")).join("\n");
  // Events are declared as `number "name" version Type {`.
  const isDeclared = (/** @type {string} */ name) =>
    new RegExp(`\\b(?:struct|enum|trait|type) ${name}\\b|^    \\d+ "[\\w.]+" \\d+ ${name} \\{`, "m").test(code);
  const missing = [...new Set(names)].filter((name) => !isDeclared(name));
  mustBeEmpty(missing.map((name) => `${DOCUMENT} names the type ${name}, which does not exist`));
}
