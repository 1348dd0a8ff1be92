"use strict";

/**
 * A promise and what settles it. Its rejection concerns only callers that await it.
 *
 * @returns {{ promise: Promise<undefined>, resolve: (value: undefined) => void, reject: (error: unknown) => void }}
 */
function deferred() {
  /** @type {(value: undefined) => void} */
  let resolve = () => {};
  /** @type {(error: unknown) => void} */
  let reject = () => {};
  /** @type {Promise<undefined>} */
  const promise = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

module.exports = { deferred };
