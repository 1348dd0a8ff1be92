"use strict";

// `#inlined-addon` for every runtime and bundler that is not Bun: nothing is inlined.

/**
 * @param {string} _platform
 * @returns {{ addon: import("./native.js").Addon, version: string } | undefined}
 */
function loadInlinedAddon(_platform) {
  return undefined;
}

module.exports = { loadInlinedAddon };
