"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.registration = registration;
exports.words = words;
const disposable_js_1 = require("./disposable.js");
/**
 * What is given for something that can be taken back.
 *
 * @param remove Twice is harmless.
 */
function registration(remove) {
    return (0, disposable_js_1.disposable)({ dispose: remove }, remove);
}
/** Characters that are told of what a function has thrown. */
const MOST_WORDS = 1_000;
/** What a function has thrown, which may be anything. */
function words(error) {
    try {
        return String(error).slice(0, MOST_WORDS);
    }
    catch {
        return "an object without words";
    }
}
