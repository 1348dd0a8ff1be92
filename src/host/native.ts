// Loads the addon. Only text crosses its border. JavaScript parses it, so values and errors belong to the realm of the
// caller.

import { loadInlinedAddon } from "#inlined-addon";
import * as failures from "./addon-failures.js";
import { createRequire, fs, os, path } from "./builtins.js";
import { findAddon } from "./find-addon.js";
import { platforms, version } from "./package.js";
import { describePlatform } from "./platform.js";
import type { FoundAddon } from "./find-addon.js";
import type { Addon } from "./native-types.js";

/** Upper bound for the file descriptors that loading takes. */
const NEEDED_DESCRIPTORS = 16;

/** An addon in an executable of Bun. */
export interface InlinedAddon {
  readonly addon: Addon;
  readonly version: string;
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
