// The addon as it is released.

import { ensureAddon } from "../lib/addon.mjs";
import { mustRun } from "./checks.mjs";

/** @type {import("./report.mjs").Stage} */
export const addon = {
  title: "Build of the addon",
  async run(say) {
    await ensureAddon("release", (_title, command) => mustRun(command, { onLine: say, timeoutMs: 0 }));
    return { passed: 1, failures: [] };
  },
};
