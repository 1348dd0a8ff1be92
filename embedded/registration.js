"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.registration = registration;
exports.words = words;
const disposable_js_1 = require("./disposable.js");
/**
 * The object that a caller gets for something that it can remove.
 *
 * @param remove May be called twice.
 */
function registration(remove) {
    return (0, disposable_js_1.disposable)({ dispose: remove }, remove);
}
/** Longest text of a thrown value in the log, in UTF-16 code units. */
const MOST_WORDS = 1_000;
/** The text of a thrown value, which may be anything. */
function words(error) {
    try {
        return String(error).slice(0, MOST_WORDS);
    }
    catch {
        return "an object without words";
    }
}
