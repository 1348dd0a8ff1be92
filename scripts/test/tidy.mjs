// What must not stand in the project's files, and what has to agree between them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { listPlatforms, platformFiles } from "../lib/platforms.mjs";
import { inProject, listFiles, readJson, readManifest, root } from "../lib/project.mjs";
import { runChecks } from "./checks.mjs";

const MOST_LINES_OF_RUST = 500;

/** @type {import("./report.mjs").Stage} */
export const tidy = {
  title: "Tidiness",
  run(say) {
    const files = listFiles().map((file) => ({ file, text: readFileSync(inProject(file), "utf8") }));
    return runChecks(
      [
        ["no paths of a machine", () => mustNotMatch(files, machinePaths())],
        ["no hosts of registries", () => checkRegistries(files)],
        ["nothing left undone", () => mustNotMatch(files, [/(?:\/\/|\*|#|--).*\b(?:TO[D]O|FIX[M]E)\b/])],
        ["no skipped tests", () => mustNotMatch(files.filter(({ file }) => isCode(file)), SKIPPED)],
        [`no Rust file over ${MOST_LINES_OF_RUST} lines`, () => checkLength(files)],
        ["one version", checkVersions],
        ["packages of the platforms", checkPlatforms],
        ["every dependency has its reason", checkDependencies],
        ["the README has every option", checkOptions],
      ],
      say,
    );
  },
};

/** @typedef {{ file: string, text: string }} Text */

const SKIPPED = [
  /#\[ignore\b/,
  /```.*\bignore\b/,
  /\b(?:it|test|describe)\.(?:skip|todo|only)\b/,
  /\b(?:xit|xtest|xdescribe|fit|fdescribe)\(/,
];

/** @param {string} file */
function isCode(file) {
  return /\.(rs|[cm]?[jt]s)$/.test(file);
}

/** This project's folder, this user's home, and the homes of a Mac and of Windows. */
function machinePaths() {
  const here = [root, `${os.homedir()}${path.sep}`].filter((folder) => folder.length > 3);
  return [...here.map((folder) => new RegExp(escape(folder))), /\/Users\/\w/, /[A-Z]:\\+Users\\/];
}

/** @param {string} text */
function escape(text) {
  return text.replace(/[.+*?^${}()|[\]\\]/g, "\\$&");
}

/**
 * @param {readonly Text[]} files
 * @param {readonly RegExp[]} patterns
 */
function mustNotMatch(files, patterns) {
  const found = files.flatMap(({ file, text }) =>
    text.split("\n").flatMap((line, index) => {
      const hit = patterns.some((pattern) => pattern.test(line));
      return hit ? [`${file}:${index + 1}: ${line.trim().slice(0, 160)}`] : [];
    }),
  );
  fail(found);
}

/**
 * A registry is the business of whoever installs. Lock files name versions and checksums only; cargo's has to
 * name crates.io by the address of its index.
 *
 * @param {readonly Text[]} files
 */
function checkRegistries(files) {
  mustNotMatch(
    files.filter(({ file }) => file !== "Cargo.lock"),
    [/https?:\/\/[^/"'\s]*(?:registry|artifactory|nexus|mirror|crates\.io)[^/"'\s]*/, /"resolved": "https?:/],
  );
  const cargoLock = files.filter(({ file }) => file === "Cargo.lock");
  mustNotMatch(cargoLock, [/^source = (?!"registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index"$)/]);
}

/** @param {readonly Text[]} files */
function checkLength(files) {
  const lengths = files.map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }));
  const long = lengths.filter(({ file, lines }) => file.endsWith(".rs") && lines > MOST_LINES_OF_RUST);
  fail(long.map(({ file, lines }) => `${file}: ${lines} lines`));
}

function checkVersions() {
  const { version } = readManifest();
  const lock = readJson(inProject("package-lock.json"));
  const cargo = readFileSync(inProject("Cargo.toml"), "utf8").match(/\[workspace\.package\]\nversion = "(.+)"/);
  const versions = [
    ["package-lock.json", lock.version],
    ["the root in package-lock.json", lock.packages[""].version],
    ["Cargo.toml", cargo?.[1]],
  ];
  const others = versions.filter(([, other]) => other !== version);
  fail(others.map(([place, other]) => `${place} has ${other}, package.json ${version}`));
}

function checkPlatforms() {
  const platforms = listPlatforms();
  const names = platforms.map((platform) => platform.name);
  const unknown = readdirSync(inProject("npm")).filter((name) => !names.includes(name));
  const stale = platforms.flatMap((platform) =>
    Object.entries(platformFiles(platform)).flatMap(([name, text]) => {
      const file = `npm/${platform.name}/${name}`;
      const isFresh = existsSync(inProject(file)) && readFileSync(inProject(file), "utf8") === text;
      return isFresh ? [] : [`${file} is stale: run node scripts/platforms.mjs`];
    }),
  );
  fail([...unknown.map((name) => `npm/${name} belongs to no target`), ...stale]);
}

function checkDependencies() {
  const document = readFileSync(inProject("docs/dependencies.md"), "utf8");
  const cargo = readFileSync(inProject("Cargo.toml"), "utf8");
  const section = cargo.match(/\[workspace\.dependencies\]\n(.*?)\n\[/s)?.[1] ?? "";
  const lines = section.split("\n").filter((line) => !line.includes("path = "));
  const crates = lines.map((line) => line.match(/^([\w-]+) = /)?.[1]).filter((name) => name !== undefined);
  const packages = Object.keys({ ...readManifest().dependencies, ...readManifest().devDependencies });
  const wanted = [...crates, ...packages];
  const described = Array.from(document.matchAll(/^\| `([^`]+)`/gm), ([, name]) => name);
  const missing = wanted.filter((name) => !described.includes(name));
  const gone = described.filter((name) => !wanted.includes(name));
  fail([
    ...missing.map((name) => `docs/dependencies.md does not say why ${name} is here`),
    ...gone.map((name) => `docs/dependencies.md describes ${name}, which is not here`),
  ]);
}

function checkOptions() {
  const declarations = readFileSync(inProject("index.d.ts"), "utf8");
  const declared = declarations.match(/interface OpenCodeOptions \{(.*?)^\}/ms)?.[1] ?? "";
  const options = Array.from(declared.matchAll(/^ {2}readonly (\w+)\?:/gm), ([, name]) => name);
  const readme = readFileSync(inProject("README.md"), "utf8");
  const missing = options.filter((name) => !readme.includes(`| \`${name}\``));
  fail(missing.map((name) => `README.md does not describe ${name}`));
}

/** @param {readonly string[]} problems */
function fail(problems) {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}
