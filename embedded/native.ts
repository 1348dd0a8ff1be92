import { loadInlinedAddon } from "#inlined-addon";
import * as failures from "./addon-failures.js";
import { createRequire, fs, os, path } from "./builtins.js";
import { findAddon } from "./find-addon.js";
import { platforms, version } from "./package.js";
import { describePlatform } from "./platform.js";
import type { FoundAddon } from "./find-addon.js";

/** How many file descriptors loading takes at most, with some to spare. */
const NEEDED_DESCRIPTORS = 16;

/**
 * The addon as this package sees it. Only text crosses the border: it is parsed here, in the realm of the
 * caller, and failures are data that become errors here.
 */
export interface NativeHost {
  /**
   * `head` is JSON `{method, url, headers}`. Requests are admitted in the order of these calls. A finished answer is its head as JSON `{status, headers}`, a line feed, and its body. `call` is a number by which it can be cancelled, or 0.
   */
  request: (head: string, body: string | null, call: number) => Promise<string | NativeBody | NativeBytes>;
  /** Gives a pending request up; its promise rejects. */
  cancel: (call: number) => void;
  /** A string is a tagged failure as JSON. */
  listen: (options: string) => Promise<string | NativeListener>;
  /** Null when no Session Drain runs, else a promise for the moment when none does. */
  untilIdle: () => Promise<void> | null;
  /**
   * Calls back with each permission request, those that wait, then those that come, as JSON `{asked: request}`, and the end of each as `{ended: id}`.
   */
  askedPermissions: (callback: (request: string) => void) => NativeAttendance;
  askedQuestions: (callback: (request: string) => void) => NativeAttendance;
  /**
   * Calls back with each terminal that wants variables, as JSON `{asked: {id, directory, cwd}}`, and `{ended: id}` when it ends without an answer.
   */
  askedEnvironments: (callback: (request: string) => void) => NativeAttendance;
  /** Answers one of these: with JSON `{variables: [[name, value], ...]}` or `{error: message}`. */
  answerEnvironment: (id: number, answer: string) => void;
  /**
   * Calls back with each Location that the program is to trust or not, as JSON `{asked: {id, directory}}`, and `{ended: id}` when it ends without an answer.
   */
  askedTrust: (callback: (request: string) => void) => NativeAttendance;
  /** Answers one of these: with JSON `{trusted: boolean}` or `{error: reason}`. */
  answerTrust: (id: number, answer: string) => void;
  /** A string is a tagged failure as JSON. */
  trust: (directory: string | null, trusted: boolean) => Promise<string | null>;
  /** Takes a warning about a function of the program for the log. `fields` is a JSON object. */
  warn: (message: string, fields: string) => void;
  close: () => Promise<void>;
}

export interface NativeAttendance {
  stop: () => void;
}

export interface NativeListener {
  url: string;
  /** Null when the password is off. */
  username: string | null;
  password: string | null;
  close: () => Promise<void>;
  /** Resolves when the last connection has ended. */
  closed: () => Promise<void>;
}

/** A finished answer whose body is no text. */
interface NativeBytes {
  head: string;
  bytes: Uint8Array;
}

interface NativeBody {
  head: string;
  /** All the text that is there, or a promise of it where there is none yet; null is the clean end. */
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
  /** Why the addon cannot work in this process; to be asked first. */
  notStarted: () => string | null;
}

let loaded: Addon | undefined;

/**
 * Loads the addon of this platform: on first use, because a program that never opens a host needs none.
 * Throws the tagged failure `AddonUnavailableError`.
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
 * An addon that gets no descriptor while it is loaded cannot be loaded again by this process. So this looks
 * whether there are enough.
 */
function requireDescriptors(platform: string) {
  const opened = [];
  try {
    while (opened.length < NEEDED_DESCRIPTORS) opened.push(fs.openSync(os.devNull, "r"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A program may be allowed to load addons and not to read this file.
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
