// Checks that files with the same facts agree.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DECLARATIONS, readDeclarations } from "../lib/declarations.mjs";
import { loaderFiles } from "../lib/loader.mjs";
import { listPlatforms, platformFiles } from "../lib/platforms.mjs";
import { inProject, readJson, readManifest } from "../lib/project.mjs";
import { mustBeEmpty, runChecks } from "./checks.mjs";
import { documentChecks } from "./documents.mjs";
import { checkGlossary } from "./glossary.mjs";
import { checkLicences } from "./licences.mjs";
import { checkImports } from "./imports.mjs";

/** @type {import("./report.mjs").Stage} */
export const agreement = {
  title: "Agreement of files",
  run: (say) =>
    runChecks(
      [
        ["one version", checkVersions],
        ["one toolchain", checkToolchain],
        ["the packages of the platforms match the manifest", checkPlatforms],
        ["the loader matches the manifest", checkLoader],
        ["the lock file contains every platform", checkLock],
        ["every dependency has a documented reason", checkDependencies],
        ["every crate has an allowed licence", checkLicences],
        ["crates and modules import only lower ones", checkImports],
        ["the glossary names existing types", checkGlossary],
        ["the public declarations match the reviewed ones", checkDeclarations],
        ["the public declarations do not contain any", checkAny],
        ...documentChecks,
      ],
      say,
    ),
};

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
  mustBeEmpty(others.map(([place, other]) => `${place} has ${other}, package.json ${version}`));
}

/** The oldest toolchain that `Cargo.toml` allows must be the toolchain of all tests. */
function checkToolchain() {
  const oldest = readFileSync(inProject("Cargo.toml"), "utf8").match(/^rust-version = "(.+)"$/m)?.[1];
  const used = readFileSync(inProject("rust-toolchain.toml"), "utf8").match(/^channel = "(.+)"$/m)?.[1];
  if (used === oldest || used?.startsWith(`${oldest}.`)) return;
  throw new Error(`rust-toolchain.toml has ${used}, Cargo.toml ${oldest}`);
}

function checkPlatforms() {
  const platforms = listPlatforms();
  const names = platforms.map((platform) => platform.name);
  const unknown = readdirSync(inProject("npm")).filter((name) => !names.includes(name));
  const stale = platforms.flatMap((platform) =>
    Object.entries(platformFiles(platform)).flatMap(([name, text]) => {
      const file = `npm/${platform.name}/${name}`;
      return isWritten(file, text) ? [] : [`${file} is stale: run node scripts/platforms.mjs`];
    }),
  );
  mustBeEmpty([...unknown.map((name) => `npm/${name} belongs to no target`), ...stale]);
}

function checkLoader() {
  const stale = Object.entries(loaderFiles()).filter(([file, text]) => !isWritten(file, text));
  mustBeEmpty(stale.map(([file]) => `${file} is stale: run node scripts/platforms.mjs`));
}

/**
 * @param {string} file
 * @param {string} text
 */
function isWritten(file, text) {
  return existsSync(inProject(file)) && readFileSync(inProject(file), "utf8") === text;
}

/**
 * `npm ci` refuses a lock file without the optional packages of other platforms. npm writes such a file if a registry
 * does not have these packages.
 */
function checkLock() {
  const { packages } = readJson(inProject("package-lock.json"));
  mustBeEmpty(
    Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) => {
      const missing = Object.keys(optionalDependencies).filter((name) => !isLocked(packages, place, name));
      return missing.map((name) => `package-lock.json lacks ${name}, which ${place} may need`);
    }),
  );
}

/**
 * True if Node would find a package from another one: in its own folder, or in one of the parent folders.
 *
 * @param {Record<string, object>} packages
 * @param {string} place
 * @param {string} name
 * @returns {boolean}
 */
function isLocked(packages, place, name) {
  if (Object.hasOwn(packages, path.posix.join(place, "node_modules", name))) return true;
  return place !== "" && isLocked(packages, place.slice(0, Math.max(0, place.lastIndexOf("node_modules/") - 1)), name);
}

function checkDependencies() {
  const document = readFileSync(inProject("docs/dependencies.md"), "utf8");
  const cargo = readFileSync(inProject("Cargo.toml"), "utf8");
  const section = cargo.match(/\[workspace\.dependencies\]\n(.*?)\n\[/s)?.[1] ?? "";
  const fuzz = readFileSync(inProject("fuzz/Cargo.toml"), "utf8").match(/\[dependencies\]\n(.*?)\n\[/s)?.[1] ?? "";
  const lines = `${section}\n${fuzz}`.split("\n").filter((line) => !line.includes("path = "));
  const crates = lines.map((line) => line.match(/^([\w-]+) = /)?.[1]).filter((name) => name !== undefined);
  const packages = Object.keys({ ...readManifest().dependencies, ...readManifest().devDependencies });
  const wanted = [...crates, ...packages];
  const described = Array.from(document.matchAll(/^\| `([^`]+)`/gm), ([, name]) => name);
  const missing = wanted.filter((name) => !described.includes(name));
  const removed = described.filter((name) => !wanted.includes(name));
  mustBeEmpty([
    ...missing.map((name) => `docs/dependencies.md has no reason for ${name}: add it`),
    ...removed.map((name) => `docs/dependencies.md describes ${name}, which is not a dependency: remove it`),
  ]);
}

function checkDeclarations() {
  const committed = existsSync(inProject(DECLARATIONS)) ? readFileSync(inProject(DECLARATIONS), "utf8") : "";
  const [before, now] = [committed.split("\n"), readDeclarations().split("\n")];
  const removed = before.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  const added = now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
  const isSame = committed === readDeclarations();
  mustBeEmpty(isSame ? [] : [`${DECLARATIONS} is stale: run node scripts/declarations.mjs`, ...removed, ...added]);
}

/** `any` disables type checks. */
function checkAny() {
  const lines = readDeclarations().split("\n");
  mustBeEmpty(lines.filter((line) => /\bany\b/.test(line.replace(/"[^"]*"/g, ""))));
}
