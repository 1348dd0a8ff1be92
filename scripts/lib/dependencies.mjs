// Keeps node_modules in the state that package-lock.json describes.

import { existsSync } from "node:fs";
import { inProject, readJson } from "./project.mjs";
import { runTask } from "./task.mjs";
import { npm } from "./tools.mjs";

/**
 * Installs the npm dependencies unless they are installed. None of them needs its install script.
 *
 * @param {typeof runTask} [install] Runs npm.
 */
export async function ensureDependencies(install = runTask) {
  if (isUpToDate()) return;
  await install("Installing npm dependencies", npm("ci", "--ignore-scripts", "--no-audit", "--no-fund"));
}

/** Compares the lock file with the record of npm about the installed packages. */
function isUpToDate() {
  const record = inProject("node_modules/.package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = readJson(inProject("package-lock.json")).packages;
  const installed = readJson(record).packages;
  return (
    // Optional packages may be missing, because most of them are for other platforms.
    Object.entries(wanted).every(
      ([place, { optional, version }]) =>
        place === "" || (installed[place] === undefined ? optional === true : installed[place].version === version),
    ) && Object.keys(installed).every((place) => wanted[place] !== undefined)
  );
}
