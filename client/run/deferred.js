"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.deferred = deferred;
/** A promise and what settles it. Its rejection concerns only callers that await it. */
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
