"use strict";

/** @typedef {() => number} Random */

/**
 * Numbers from 0 to 1, always the same ones for a seed.
 *
 * @param {number} seed
 * @returns {Random}
 */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * @template T
 * @param {Random} random
 * @param {readonly T[]} choices At least one.
 * @returns {T}
 */
function pick(random, choices) {
  return /** @type {T} */ (choices[Math.floor(random() * choices.length)]);
}

module.exports = { createRandom, pick };
