"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.ClientError = void 0;
exports.isClientError = isClientError;
exports.isTagged = isTagged;
const SENTENCES = {
    Transport: "The request or its response could not be carried",
    UnexpectedStatus: "The answer has a status the operation does not declare",
    UnsupportedContentType: "The answer has a content type the operation does not declare",
    MalformedResponse: "The answer has a body that cannot be read",
};
/** A call without a declared answer. `reason` classifies the failure, and `cause` has the details. */
class ClientError extends Error {
    reason;
    constructor(reason, options) {
        super(`${SENTENCES[reason]}${detail(options?.cause)}`, options);
        this.reason = reason;
    }
}
exports.ClientError = ClientError;
// On the prototype, as in the built-in errors, so that `reason` is the only enumerable field.
Object.defineProperty(ClientError.prototype, "name", { value: "ClientError", configurable: true, writable: true });
/** The text of the cause, so that a reader understands the message without the cause. */
function detail(cause) {
    if (typeof cause !== "object" || cause === null)
        return "";
    const { message, status, contentType } = cause;
    const text = [message, contentType, status].find((part) => typeof part === "string" || typeof part === "number");
    return text === undefined || text === "" ? "" : `: ${text}`;
}
/**
 * Returns true if a value is a `ClientError`. It compares `name` and `reason`, so it also recognises errors of another
 * copy of this package and of another realm, for which `instanceof` fails.
 */
function isClientError(value) {
    return (typeof value === "object" &&
        value !== null &&
        value.name === "ClientError" &&
        typeof value.reason === "string");
}
/**
 * Returns true if a value is the failure with this tag. It compares `_tag` alone.
 *
 * @example
 * ```ts
 * await opencode.sessions.get({ sessionID }).catch((error) => {
 *   if (isTagged(error, "SessionNotFoundError")) return undefined
 *   throw error
 * })
 * ```
 */
function isTagged(value, tag) {
    return typeof value === "object" && value !== null && value._tag === tag;
}
