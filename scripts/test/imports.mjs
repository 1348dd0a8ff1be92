// Checks that crates and their modules import only lower ones, according to the table in docs/architecture.md.

import { readFileSync } from "node:fs";
import { inProject, listFiles } from "../lib/project.mjs";
import { listViolations } from "../lib/imports.mjs";
import { mustBeEmpty } from "./checks.mjs";

const DOCUMENT = "docs/architecture.md";

/** The rows of the table: a crate and its modules, each above the ones that it may import. */
function readTable() {
  const document = readFileSync(inProject(DOCUMENT), "utf8");
  const section = document.match(/\n## Order of imports\n(.*?)(?=\n## |$)/s)?.[1];
  if (section === undefined) throw new Error(`${DOCUMENT} has no section "Order of imports"`);
  const rows = Array.from(section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm), ([, crate, cell]) => ({
    crate: crate ?? "",
    modules: Array.from((cell ?? "").matchAll(/`(\w+)`/g), ([, name]) => name ?? ""),
  }));
  if (rows.length === 0) throw new Error(`the table in ${DOCUMENT} has no rows`);
  return rows;
}

/** Crates of tests and tools are beside the folder `crates`. `fuzz` is a workspace of its own, with one file per target. */
const OUTSIDE = ["tests", "xtask"];

/** @param {string} crate */
function folderOf(crate) {
  return OUTSIDE.includes(crate) ? crate : `crates/${crate}`;
}

export function checkImports() {
  const rows = readTable();
  const files = listFiles();
  const manifests = files
    .filter((file) => file.endsWith("/Cargo.toml"))
    .map((file) => file.slice(0, -"/Cargo.toml".length));
  const crates = manifests.filter((folder) => folder !== "fuzz").map((folder) => folder.replace(/^crates\//, ""));
  const order = rows.map(({ crate }) => crate);
  const unlisted = crates.filter((crate) => !order.includes(crate));
  const removed = order.filter((crate) => !crates.includes(crate));
  mustBeEmpty([
    ...unlisted.map((crate) => `${DOCUMENT} does not list the crate ${crate}`),
    ...removed.map((crate) => `${DOCUMENT} lists the crate ${crate}, which does not exist`),
    ...order.filter((crate) => crates.includes(crate)).flatMap((crate, at) => checkCrate(crate, order.slice(0, at))),
    ...rows.flatMap(({ crate, modules }) => checkModules(files, crate, modules)),
  ]);
}

/**
 * @param {string} crate
 * @param {readonly string[]} below
 */
function checkCrate(crate, below) {
  const manifest = readFileSync(inProject(folderOf(crate), "Cargo.toml"), "utf8");
  const production = manifest.replace(/\n\[(?:target\..*\.)?dev-dependencies\]\n(?:(?!\[).*\n?)*/g, "\n");
  const used = Array.from(production.matchAll(/^opencode-(\w+)\b/gm), ([, name]) => name ?? "");
  return used.filter((name) => !below.includes(name)).map((name) => `the crate ${crate} depends on ${name}`);
}

/**
 * @param {readonly string[]} files
 * @param {string} crate
 * @param {readonly string[]} modules
 */
function checkModules(files, crate, modules) {
  const folder = `${folderOf(crate)}/src/`;
  const sources = files
    .filter((file) => file.startsWith(folder) && file.endsWith(".rs"))
    .map((file) => ({ path: file.slice(folder.length), text: readFileSync(inProject(file), "utf8") }));
  return listViolations(sources, modules).map((problem) => `${crate}: ${problem}`);
}
