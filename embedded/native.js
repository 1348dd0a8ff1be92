"use strict";

const { loadInlinedAddon } = require("#inlined-addon");
const failures = require("./addon-failures.js");
const { createRequire, fs, os, path } = require("./builtins.js");
const { findAddon } = require("./find-addon.js");
const { platforms, version } = require("./package.js");
const { describePlatform } = require("./platform.js");

/** How many file descriptors loading takes at most, with some to spare. */
const NEEDED_DESCRIPTORS = 16;

/**
 * The addon as this package sees it. Only text crosses the border: it is parsed here, in the realm of the
 * caller, and failures are data that become errors here.
 *
 * @typedef {object} NativeHost
 * @property {(head: string, body: string | null, call: number) => Promise<string | NativeBody | NativeBytes>} request
 *   `head` is JSON `{method, url, headers}`. Requests are admitted in the order of these calls. A finished
 *   answer is its head as JSON `{status, headers}`, a line feed, and its body. `call` is a number by which
 *   it can be cancelled, or 0.
 * @property {(call: number) => void} cancel Gives a pending request up; its promise rejects.
 * @property {(options: string) => Promise<string | NativeListener>} listen A string is a tagged failure as JSON.
 * @property {() => Promise<void> | null} untilIdle Null when no Session Drain runs, else a promise for the moment
 *   when none does.
 * @property {(callback: (request: string) => void) => NativeAttendance} askedPermissions Calls back with each permission
 *   request, those that wait, then those that come, as JSON `{asked: request}`, and the end of each as `{ended: id}`.
 * @property {(callback: (request: string) => void) => NativeAttendance} askedQuestions
 * @property {(callback: (request: string) => void) => NativeAttendance} askedEnvironments Calls back with each terminal
 *   that wants variables, as JSON `{asked: {id, directory, cwd}}`, and `{ended: id}` when it ends without an answer.
 * @property {(id: number, answer: string) => void} answerEnvironment Answers one of these: with JSON
 *   `{variables: [[name, value], ...]}` or `{error: message}`.
 * @property {(callback: (request: string) => void) => NativeAttendance} askedTrust Calls back with each Location that the
 *   program is to trust or not, as JSON `{asked: {id, directory}}`, and `{ended: id}` when it ends without an answer.
 * @property {(id: number, answer: string) => void} answerTrust Answers one of these: with JSON `{trusted: boolean}` or
 *   `{error: reason}`.
 * @property {(directory: string | null, trusted: boolean) => Promise<string | null>} trust A string is a tagged failure
 *   as JSON.
 * @property {(message: string, fields: string) => void} warn Takes a warning about a function of the program for the log.
 *   `fields` is a JSON object.
 * @property {() => Promise<void>} close
 *
 * @typedef {object} NativeAttendance
 * @property {() => void} stop
 *
 * @typedef {object} NativeListener
 * @property {string} url
 * @property {string | null} username Null when the password is off.
 * @property {string | null} password
 * @property {() => Promise<void>} close
 * @property {() => Promise<void>} closed Resolves when the last connection has ended.
 *
 * @typedef {object} NativeBytes A finished answer whose body is no text.
 * @property {string} head
 * @property {Uint8Array} bytes
 *
 * @typedef {object} NativeBody
 * @property {string} head
 * @property {() => string | null | Promise<string | null>} next All the text that is there, or a promise of it where
 *   there is none yet; null is the clean end.
 * @property {() => void} cancel
 *
 * @typedef {object} Addon
 * @property {(options: string, logOptions: string, log: ((entries: string) => void) | null) => Promise<string | NativeHost>} open
 *   A string is a tagged failure as JSON. `log` gets the entries of the log, as JSON arrays; null for no log.
 * @property {() => string | null} notStarted Why the addon cannot work in this process; to be asked first.
 */

/** @type {Addon | undefined} */
let loaded;

/**
 * Loads the addon of this platform: on first use, because a program that never opens a host needs none.
 * Throws the tagged failure `AddonUnavailableError`.
 *
 * @returns {Addon}
 */
function loadAddon() {
  loaded ??= loadStarted(describePlatform());
  return loaded;
}

/** @param {string} platform */
function loadStarted(platform) {
  requireDescriptors(platform);
  const addon = load(platform);
  const reason = addon.notStarted();
  if (reason !== null) throw failures.notStarted(platform, reason);
  return addon;
}

/**
 * An addon that gets no descriptor while it is loaded cannot be loaded again by this process. So this looks
 * whether there are enough.
 *
 * @param {string} platform
 */
function requireDescriptors(platform) {
  const opened = [];
  try {
    while (opened.length < NEEDED_DESCRIPTORS) opened.push(fs.openSync(os.devNull, "r"));
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    // A program may be allowed to load addons and not to read this file.
    if (code === "EMFILE" || code === "ENFILE") throw failures.tooFewDescriptors(platform, NEEDED_DESCRIPTORS, code);
  } finally {
    for (const descriptor of opened) fs.closeSync(descriptor);
  }
}

/** @param {string} platform */
function load(platform) {
  const given = process.env[failures.OVERRIDE];
  if (given) return loadGiven(platform, given);
  if (!platforms.includes(platform)) throw failures.unsupported(platform);
  const inlined = loadInlinedAddon(platform);
  if (inlined !== undefined) {
    requireSameVersion(platform, inlined.version);
    return inlined.addon;
  }
  const found = findAddon(platform);
  if (found === undefined) throw failures.missing(platform);
  if (found.version !== undefined) requireSameVersion(platform, found.version);
  return loadFile(platform, found);
}

/**
 * @param {string} platform
 * @param {string} file
 */
function loadGiven(platform, file) {
  if (!path.isAbsolute(file)) throw failures.notAbsolute(file);
  return loadFile(platform, { file, load: createRequire(file) });
}

/**
 * @param {string} platform
 * @param {import("./find-addon.js").FoundAddon} found
 */
function loadFile(platform, found) {
  try {
    return found.load(found.file);
  } catch (error) {
    throw failures.unloadable(platform, found, error);
  }
}

/**
 * @param {string} platform
 * @param {string} found
 */
function requireSameVersion(platform, found) {
  if (found !== version) throw failures.otherVersion(platform, found);
}

module.exports = { loadAddon };
