import { loadInlinedAddon } from "#inlined-addon";
import * as failures from "./addon-failures.js";
import { createRequire, fs, os, path } from "./builtins.js";
import { findAddon } from "./find-addon.js";
import { platforms, version } from "./package.js";
import { describePlatform } from "./platform.js";
import type { FoundAddon } from "./find-addon.js";

/** Upper bound for the file descriptors that loading takes. */
const NEEDED_DESCRIPTORS = 16;

/**
 * The addon. Only text crosses the border. JavaScript parses it, so values and errors belong to the realm of the
 * caller.
 */
export interface NativeHost {
  /**
   * `head` is JSON `{method, url, headers}`. Requests are admitted in the order of these calls. A finished answer is
   * its head as JSON `{status, headers}`, a line feed, and its body. `call` is a number for `cancel`, or 0.
   */
  request: (head: string, body: string | null, call: number) => Promise<string | NativeBody | NativeBytes>;
  /** Cancels a pending request. Its promise rejects. */
  cancel: (call: number) => void;
  /** A string is a tagged failure as JSON. */
  listen: (options: string) => Promise<string | NativeListener>;
  /** Null if no Session Drain runs, else a promise that resolves when none runs. */
  untilIdle: () => Promise<void> | null;
  /**
   * Calls back with each permission request as JSON `{asked: request}`, first the waiting ones, and with the end of
   * each as `{ended: id}`.
   */
  askedPermissions: (callback: (request: string) => void) => NativeAttendance;
  askedQuestions: (callback: (request: string) => void) => NativeAttendance;
  /**
   * Calls back with each terminal that needs variables, as JSON `{asked: {id, directory, cwd}}`, and with `{ended:
   * id}` if it ends without an answer.
   */
  askedEnvironments: (callback: (request: string) => void) => NativeAttendance;
  /** Answers a terminal with JSON `{variables: [[name, value], ...]}` or `{error: message}`. */
  answerEnvironment: (id: number, answer: string) => void;
  /**
   * Calls back with each Location that needs a trust decision, as JSON `{asked: {id, directory}}`, and with
   * `{ended: id}` if it ends without an answer.
   */
  askedTrust: (callback: (request: string) => void) => NativeAttendance;
  /** Answers a trust decision with JSON `{trusted: boolean}` or `{error: reason}`. */
  answerTrust: (id: number, answer: string) => void;
  /** A string is a tagged failure as JSON. */
  trust: (directory: string | null, trusted: boolean) => Promise<string | null>;
  /** Writes a warning about a function of the program to the log. `fields` is a JSON object. */
  warn: (message: string, fields: string) => void;
  close: () => Promise<void>;
}

export interface NativeAttendance {
  stop: () => void;
}

export interface NativeListener {
  url: string;
  /** Null without a password. */
  username: string | null;
  password: string | null;
  close: () => Promise<void>;
  /** Resolves when the last connection has ended. */
  closed: () => Promise<void>;
}

/** A finished answer whose body is not text. */
interface NativeBytes {
  head: string;
  bytes: Uint8Array;
}

interface NativeBody {
  head: string;
  /** Returns all text that has arrived, or a promise of the next text. Null is the clean end. */
  next: () => string | null | Promise<string | null>;
  cancel: () => void;
}

/** An addon in an executable of Bun. */
export interface InlinedAddon {
  readonly addon: Addon;
  readonly version: string;
}

export interface Addon {
  /** A string is a tagged failure as JSON. `log` gets the entries of the log, as JSON arrays; null for no log. */
  open: (options: string, logOptions: string, log: ((entries: string) => void) | null) => Promise<string | NativeHost>;
  /** The reason for which the addon cannot work in this process, or null. Call this first. */
  notStarted: () => string | null;
}

let loaded: Addon | undefined;

/**
 * Loads the addon of this platform on first use: a program that never opens a host needs none. Throws the tagged
 * failure `AddonUnavailableError`.
 */
export function loadAddon(): Addon {
  loaded ??= loadStarted(describePlatform());
  return loaded;
}

function loadStarted(platform: string) {
  requireDescriptors(platform);
  const addon = load(platform);
  const reason = addon.notStarted();
  if (reason !== null) throw failures.notStarted(platform, reason);
  return addon;
}

/**
 * Checks that enough descriptors are available. If loading fails without a descriptor, this process can never load
 * the addon.
 */
function requireDescriptors(platform: string) {
  const opened = [];
  try {
    while (opened.length < NEEDED_DESCRIPTORS) opened.push(fs.openSync(os.devNull, "r"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A program may be allowed to load addons but not to read this file.
    if (code === "EMFILE" || code === "ENFILE") throw failures.tooFewDescriptors(platform, NEEDED_DESCRIPTORS, code);
  } finally {
    for (const descriptor of opened) fs.closeSync(descriptor);
  }
}

function load(platform: string) {
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

function loadGiven(platform: string, file: string) {
  if (!path.isAbsolute(file)) throw failures.notAbsolute(file);
  return loadFile(platform, { file, load: createRequire(file) });
}

function loadFile(platform: string, found: FoundAddon) {
  try {
    return found.load(found.file);
  } catch (error) {
    throw failures.unloadable(platform, found, error);
  }
}

function requireSameVersion(platform: string, found: string) {
  if (found !== version) throw failures.otherVersion(platform, found);
}
