"use strict";

/**
 * @typedef {object} Watch
 * @property {Set<() => void>} callbacks
 * @property {() => void} listener
 */

/** @type {WeakMap<AbortSignal, Watch>} */
const watches = new WeakMap();

/**
 * Calls back when the signal aborts, unless the function it returns is called before.
 *
 * A caller's signal may live as long as the process and serve thousands of calls. So one listener stands on
 * it however many calls it serves, for Node warns of more than ten, and none when it serves none.
 *
 * @param {AbortSignal} signal
 * @param {() => void} callback
 * @returns {() => void}
 */
function onAbort(signal, callback) {
  const watch = watches.get(signal) ?? startWatch(signal);
  watch.callbacks.add(callback);
  return () => {
    if (watch.callbacks.delete(callback) && watch.callbacks.size === 0) endWatch(signal, watch);
  };
}

/**
 * @param {AbortSignal} signal
 * @returns {Watch}
 */
function startWatch(signal) {
  /** @type {Watch} */
  const watch = {
    callbacks: new Set(),
    listener() {
      endWatch(signal, watch);
      for (const callback of watch.callbacks) callback();
    },
  };
  signal.addEventListener("abort", watch.listener);
  watches.set(signal, watch);
  return watch;
}

/**
 * @param {AbortSignal} signal
 * @param {Watch} watch
 */
function endWatch(signal, watch) {
  signal.removeEventListener("abort", watch.listener);
  watches.delete(signal);
}

module.exports = { onAbort };
