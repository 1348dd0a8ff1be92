"use strict";

/** @typedef {import("../index.js").Registration} Registration */

/**
 * What is given for something that can be taken back.
 *
 * @param {() => void} remove Twice is harmless.
 * @returns {Registration}
 */
function registration(remove) {
  const registered = { dispose: remove };
  // Node 20.0 to 20.4 lack the symbol.
  const disposable = Symbol.dispose === undefined ? registered : { ...registered, [Symbol.dispose]: remove };
  return /** @type {Registration} */ (disposable);
}

/** Characters that are told of what a function has thrown. */
const MOST_WORDS = 1_000;

/**
 * What a function has thrown, which may be anything.
 *
 * @param {unknown} error
 */
function words(error) {
  try {
    return String(error).slice(0, MOST_WORDS);
  } catch {
    return "an object without words";
  }
}

module.exports = { registration, words };
