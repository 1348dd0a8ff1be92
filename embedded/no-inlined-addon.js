"use strict";
// `#inlined-addon` for every runtime and bundler that is not Bun: nothing is inlined.
Object.defineProperty(exports, "__esModule", { value: true });
exports.loadInlinedAddon = loadInlinedAddon;
function loadInlinedAddon(_platform) {
    return undefined;
}
