"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.LineParser = exports.LINE_LIMIT = exports.LINES_TYPE = void 0;
exports.joinLines = joinLines;
const errors_js_1 = require("./errors.js");
const failures_js_1 = require("./failures.js");
const json_js_1 = require("./json.js");
const line_buffer_js_1 = require("./line-buffer.js");
// The content type of a body that consists of lines.
exports.LINES_TYPE = "application/x-ndjson";
// Longest line in UTF-16 code units (256 MiB of ASCII). The lines that a host exports are shorter.
exports.LINE_LIMIT = 256 * 1024 * 1024;
// Longest body of one request in UTF-16 code units. Some engines cannot create a string of twice this length.
const BODY_LIMIT = 256 * 1024 * 1024;
/** Turns the text of a body into its lines. */
class LineParser {
    #lines = new line_buffer_js_1.LineBuffer();
    push(text) {
        this.#lines.push(text);
        refuseOverlong(this.#lines.unfinished);
    }
    /** Fails if a line is incomplete. Each line ends with a line feed, so the body was cut. */
    end() {
        if (this.#lines.unfinished === 0)
            return;
        throw new errors_js_1.ClientError("Transport", { cause: new Error("The body ended within a line") });
    }
    next() {
        const line = this.#lines.next();
        if (line !== undefined)
            refuseOverlong(line.length);
        return line;
    }
}
exports.LineParser = LineParser;
function refuseOverlong(length) {
    if (length > exports.LINE_LIMIT)
        throw (0, json_js_1.malformed)("A line larger than 256 MiB");
}
/**
 * The body with these lines. Each ends with a line feed.
 *
 * @param lines The lines from the caller.
 */
async function joinLines(lines, signal, limit = BODY_LIMIT) {
    if (!isIterable(lines))
        throw refusal(`Expected lines, got ${kindOf(lines)}`);
    const parts = [];
    let length = 0;
    // A string is the text of a whole file, not a list of characters.
    for await (const line of typeof lines === "string" ? [lines] : lines) {
        // The call has failed already if its caller aborted it. So the source can stop.
        signal?.throwIfAborted();
        if (typeof line !== "string")
            throw refusal(`Expected lines of text, got ${kindOf(line)}`);
        // A text that was split at line feeds has an empty part after the last one.
        const part = line === "" || line.endsWith("\n") ? line : `${line}\n`;
        length += part.length;
        if (length > limit)
            throw refusal(`The lines have more than the ${limit} characters that one request carries`);
        parts.push(part);
    }
    signal?.throwIfAborted();
    return parts.join("");
}
function isIterable(lines) {
    if (typeof lines === "string")
        return true;
    return typeof lines === "object" && lines !== null && (Symbol.asyncIterator in lines || Symbol.iterator in lines);
}
function kindOf(value) {
    return value === null ? "null" : typeof value;
}
function refusal(message) {
    return (0, failures_js_1.taggedError)({ _tag: "InvalidRequestError", message, kind: "Payload" });
}
