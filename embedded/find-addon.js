"use strict";

// Looks for the addon at run time, in a way that no bundler sees: it would try to bundle the binary.

const { createRequire, fs, path } = require("./builtins.js");
const { name } = require("./package.js");

/** @typedef {(file: string) => import("./native.js").Addon} Load */

/**
 * @typedef {object} FoundAddon
 * @property {string} file
 * @property {string} [version] The version of its package; absent for a file that belongs to none.
 * @property {Load} load
 */

/**
 * Finds the addon: a development build or a copy beside a bundle or executable, then the package of the platform.
 *
 * @param {string} platform
 * @returns {FoundAddon | undefined}
 */
function findAddon(platform) {
  for (const place of places()) {
    const require = createRequire(place);
    const found = findCopy(require, platform) ?? findInPackage(require, platform) ?? findBesideUs(require, platform);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Where the code of this package is, as files: this one, the bundle it is in, the executable.
 * Never the working directory: it may hold a project that is not trusted.
 */
function* places() {
  if (typeof __filename === "string" && isLocation(__filename)) yield __filename;
  const running = runningFile();
  if (isLocation(running)) yield running;
  yield process.execPath;
}

/**
 * @param {string | undefined} file
 * @returns {file is string}
 */
function isLocation(file) {
  return file !== undefined && (file.startsWith("file:") || path.isAbsolute(file));
}

/**
 * The file that this code runs from. A bundle in ESM has no `__filename`, and some bundlers replace it by the
 * name of the source file.
 *
 * @returns {string | undefined}
 */
function runningFile() {
  const { prepareStackTrace } = Error;
  // Unlike an assignment, this does not throw where the program has frozen `Error`.
  Reflect.set(Error, "prepareStackTrace", firstFile);
  try {
    const file = /** @type {unknown} */ (new Error("Where is this?").stack);
    return typeof file === "string" ? file : undefined;
  } finally {
    Reflect.set(Error, "prepareStackTrace", prepareStackTrace);
  }
}

/**
 * @param {Error} _error
 * @param {NodeJS.CallSite[]} sites
 */
function firstFile(_error, sites) {
  return sites[0]?.getFileName();
}

/**
 * @param {NodeJS.Require} require
 * @param {string} platform
 * @returns {FoundAddon | undefined}
 */
function findCopy(require, platform) {
  const binary = `${name}.${platform}.node`;
  const file = resolve(require, `./${binary}`) ?? resolve(require, `../${binary}`);
  return file === undefined ? undefined : { file, load: require };
}

/**
 * @param {NodeJS.Require} require
 * @param {string} platform
 * @returns {FoundAddon | undefined}
 */
function findInPackage(require, platform) {
  const file = resolve(require, `${name}-${platform}`);
  const manifest = resolve(require, `${name}-${platform}/package.json`);
  if (file === undefined || manifest === undefined) return undefined;
  const { version } = JSON.parse(fs.readFileSync(manifest, "utf8"));
  return { file, version, load: require };
}

/**
 * Finds the package of the platform for a bundle where only our package may import it, as with pnpm.
 *
 * @param {NodeJS.Require} require
 * @param {string} platform
 */
function findBesideUs(require, platform) {
  const manifest = resolve(require, `${name}/package.json`);
  return manifest === undefined ? undefined : findInPackage(createRequire(manifest), platform);
}

/**
 * @param {NodeJS.Require} require
 * @param {string} request
 * @returns {string | undefined}
 */
function resolve(require, request) {
  try {
    return require.resolve(request);
  } catch {
    return undefined;
  }
}

module.exports = { findAddon };
