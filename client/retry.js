"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.isPassing = isPassing;
exports.retryDelay = retryDelay;
const errors_js_1 = require("./errors.js");
const failures_js_1 = require("./failures.js");
/**
 * Returns true if a new attempt may succeed: the connection broke, or a server or gateway is unavailable. Failures of
 * the session or of the request, and unreadable answers, would be the same again.
 */
function isPassing(failure) {
    if ((0, errors_js_1.isTagged)(failure, "ServiceUnavailableError"))
        return true;
    if (!(0, errors_js_1.isClientError)(failure))
        return false;
    const cause = failure.cause;
    switch (failure.reason) {
        case "Transport":
            // A list is a failure that the server reported in the middle of the stream.
            return !Array.isArray(cause) && cause?.code !== failures_js_1.HOST_CLOSED;
        case "UnexpectedStatus":
        case "UnsupportedContentType":
            return isPassingStatus(cause?.status);
        default:
            return false;
    }
}
function isPassingStatus(status) {
    return typeof status === "number" && (status >= 500 || status === 408 || status === 425 || status === 429);
}
/**
 * The delay before a retry in milliseconds. It doubles with every failure. A random part between half and all of it
 * is used, so that many clients do not retry at the same time.
 *
 * @param failures Failures in a row, from 1 on.
 */
function retryDelay({ min, max }, failures) {
    const whole = Math.min(max, min * 2 ** (failures - 1));
    return Math.round(whole * (0.5 + Math.random() / 2));
}
