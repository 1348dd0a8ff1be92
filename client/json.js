"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.parseObject = parseObject;
exports.parseJson = parseJson;
exports.malformed = malformed;
const errors_js_1 = require("./errors.js");
/** Parses an object. Every body and every event of the contract is an object. */
function parseObject(text) {
    const value = parseJson(text);
    if (typeof value !== "object" || value === null)
        throw malformed("JSON that is not an object");
    return value;
}
function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch (cause) {
        throw new errors_js_1.ClientError("MalformedResponse", { cause });
    }
}
function malformed(message) {
    return new errors_js_1.ClientError("MalformedResponse", { cause: new Error(message) });
}
