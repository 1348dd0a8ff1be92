"use strict";
// Suggestions for inputs of a wrong form.
Object.defineProperty(exports, "__esModule", { value: true });
exports.checkShape = checkShape;
exports.params = params;
exports.invalidRequest = invalidRequest;
const failures_js_1 = require("./failures.js");
/** Longest text of a caller that a failure shows, in UTF-16 code units. */
const MAX_SHOWN = 60;
/** Throws `InvalidRequestError` if the input is not an object, as in `sessions.get("ses_1")`. */
function checkShape(operation, input) {
    if (typeof input === "object" && !Array.isArray(input))
        return;
    const { group, name } = operation;
    const [field] = params(operation);
    const kind = Array.isArray(input) ? "an array" : `a ${typeof input}`;
    const right = field === undefined ? "{ ... }" : `{ ${field}: ${show(input)} }`;
    throw invalidRequest(`${group}.${name} takes an object, got ${kind}: write ${name}(${right})`, field);
}
/** The members that are part of the path. */
function params({ path }) {
    return path.flatMap((part) => (typeof part === "string" ? [] : "param" in part ? part.param : part.rest));
}
function show(value) {
    return typeof value === "string" && value.length <= MAX_SHOWN ? JSON.stringify(value) : "...";
}
function invalidRequest(message, field) {
    return (0, failures_js_1.taggedError)({ _tag: "InvalidRequestError", message, ...(field === undefined ? {} : { field }) });
}
