"use strict";

const { taggedError } = require("../client/errors.js");
const { platforms, name, version } = require("./package.js");
const { glibcVersion } = require("./platform.js");

/** The environment variable that names the binary to load. */
const OVERRIDE = "OPENCODE_EMBEDDED_ADDON";

/** What a dynamic linker says when the glibc of the system is too old. */
const NEEDED_GLIBC = /GLIBC_([\d.]+)[^\n]* not found/;

/** @param {string} platform */
function unsupported(platform) {
  return failure(undefined, `${name} has no binary for ${platform}. It has one for ${platforms.join(", ")}.`);
}

/** @param {string} platform */
function missing(platform) {
  const wanted = packageOf(platform);
  return failure(
    wanted,
    `The package ${wanted} with the binary for this platform is not installed. npm leaves it out with ` +
      `--omit=optional, or with a lock file or node_modules from another platform. To install it: ${install(wanted)}. ` +
      `A bundle or an executable also takes the file ${name}.${platform}.node beside it.`,
  );
}

/**
 * @param {string} platform
 * @param {string} found
 */
function otherVersion(platform, found) {
  const wanted = packageOf(platform);
  return failure(
    wanted,
    `The package ${wanted} has version ${found}, but ${name} has version ${version}. ` +
      `To install the same version: ${install(wanted)}`,
  );
}

/**
 * @param {string} platform
 * @param {{ file: string, version?: string }} found
 * @param {unknown} cause
 */
function unloadable(platform, { file, version: packaged }, cause) {
  const wanted = packageOf(platform);
  const said = cause instanceof Error ? cause.message : String(cause);
  const [, glibc] = NEEDED_GLIBC.exec(said) ?? [];
  const reason =
    glibc === undefined
      ? "It may be damaged or made for another system."
      : `It needs glibc ${glibc} or newer, and this system has ${glibcVersion() ?? "an older one"}.`;
  const isReinstallable = glibc === undefined && packaged !== undefined;
  const cure = isReinstallable ? ` Delete its folder, then install it again: ${install(wanted)}` : "";
  return failure(wanted, `The binary ${file} cannot be loaded: ${said.trim()}. ${reason}${cure}`);
}

/**
 * @param {string} platform
 * @param {number} needed
 * @param {string} code
 */
function tooFewDescriptors(platform, needed, code) {
  return failure(
    packageOf(platform),
    `The binary needs ${String(needed)} file descriptors to be loaded, and the system gives this process fewer ` +
      `(${code}). Close files or raise the limit (ulimit -n), then create the host again.`,
  );
}

/**
 * @param {string} platform
 * @param {string} reason
 */
function notStarted(platform, reason) {
  return failure(
    packageOf(platform),
    `The binary was loaded and cannot work: ${reason}. Let the process have more threads and file descriptors ` +
      `(ulimit -u, ulimit -n), then start it again.`,
  );
}

/** @param {string} given */
function notAbsolute(given) {
  return failure(undefined, `${OVERRIDE} must be the absolute path of a .node file, but it is ${given}`);
}

/** @param {string} platform */
function packageOf(platform) {
  return platforms.includes(platform) ? `${name}-${platform}` : undefined;
}

/** @param {string | undefined} wanted */
function install(wanted) {
  return `npm install ${wanted}@${version}`;
}

/**
 * @param {string | undefined} wanted
 * @param {string} message
 */
function failure(wanted, message) {
  return taggedError({ _tag: "AddonUnavailableError", ...(wanted !== undefined && { package: wanted }), message });
}

module.exports = {
  OVERRIDE,
  missing,
  notAbsolute,
  notStarted,
  otherVersion,
  tooFewDescriptors,
  unloadable,
  unsupported,
};
