"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.deferred = deferred;
/** A promise with its settling functions. A rejection without a handler is ignored. */
function deferred() {
    let resolve = () => { };
    let reject = () => { };
    const promise = new Promise((onResolve, onReject) => {
        resolve = onResolve;
        reject = onReject;
    });
    promise.catch(() => { });
    return { promise, resolve, reject };
}
