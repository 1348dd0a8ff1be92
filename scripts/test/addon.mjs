// The addon that the stages after it use.

import { buildAddon, ensureAddon } from "../lib/addon.mjs";

/** @type {import("./report.mjs").Stage} */
export const addon = {
  title: "Addon",
  async run(say) {
    const profile = await ensureAddon((_title, work) => work(say));
    return { passed: 1, failures: [], note: `the ${profile} build` };
  },
};

/** @type {import("./report.mjs").Stage} */
export const releaseAddon = {
  title: "Addon",
  async run(say) {
    await buildAddon("release", (_title, work) => work(say));
    return { passed: 1, failures: [], note: "the release build" };
  },
};
