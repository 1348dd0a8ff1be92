// The folder of the project, and its files.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project, independent of the working directory. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** @param {string[]} parts */
export function inProject(...parts) {
  return path.join(root, ...parts);
}

/** @param {string} file */
export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The manifest of the package. */
export function readManifest() {
  return readJson(inProject("package.json"));
}

/**
 * The files of the project: all files that `.gitignore` does not match, as paths with `/`. The same in a copy of the
 * project without its history.
 */
export function listFiles() {
  const ignored = [/^\.git\/$/, ...readFileSync(inProject(".gitignore"), "utf8").split("\n").flatMap(toPattern)];
  return walk("", (file) => !ignored.some((pattern) => pattern.test(file)));
}

/**
 * @param {string} folder
 * @param {(file: string) => boolean} belongs
 * @returns {string[]}
 */
function walk(folder, belongs) {
  return readdirSync(inProject(folder), { withFileTypes: true }).flatMap((entry) => {
    const file = folder + entry.name;
    if (!entry.isDirectory()) return belongs(file) ? [file] : [];
    return belongs(`${file}/`) ? walk(`${file}/`, belongs) : [];
  });
}

/**
 * Supports the forms in our `.gitignore`: `/at/the/root`, `folder/`, and a `*` within a name.
 *
 * @param {string} line
 */
function toPattern(line) {
  if (line === "" || line.startsWith("#")) return [];
  const anywhere = line.startsWith("/") ? "^" : "(^|/)";
  const text = line
    .replace(/^\//, "")
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*");
  return [new RegExp(`${anywhere}${text}$`)];
}
