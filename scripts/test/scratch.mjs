// Temporary folders, and an environment without the data of the user.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/** @typedef {ReturnType<typeof createScratch>} Scratch */

export function createScratch() {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "opencode-embedded-test-")));
  return {
    folder,
    /** @param {string[]} parts */
    path: (...parts) => path.join(folder, ...parts),
    /**
     * @param {string} file
     * @param {string} text
     */
    write(file, text) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Variables about the user's models, configuration and folders. */
const ABOUT_THE_USER = /^(ANTHROPIC_|OPENAI_|OPENCODE_|XDG_|INIT_CWD$|HOME$|USERPROFILE$)/;

/**
 * The environment of this process without the user: the home directory is in the scratch folder.
 *
 * @param {Scratch} scratch
 * @param {Record<string, string>} [more]
 * @returns {NodeJS.ProcessEnv}
 */
export function userlessEnv(scratch, more = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !ABOUT_THE_USER.test(name));
  const home = scratch.path("home");
  mkdirSync(home, { recursive: true });
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    // The toolchain is in the user's home directory, but contains no data of the user.
    CARGO_HOME: process.env.CARGO_HOME ?? path.join(os.homedir(), ".cargo"),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? path.join(os.homedir(), ".rustup"),
    ...more,
  };
}
