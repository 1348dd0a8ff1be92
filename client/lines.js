"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.LineParser = exports.LINE_LIMIT = exports.LINES_TYPE = void 0;
exports.joinLines = joinLines;
const errors_js_1 = require("./errors.js");
const failures_js_1 = require("./failures.js");
const json_js_1 = require("./json.js");
const line_buffer_js_1 = require("./line-buffer.js");
// The content type of bodies of lines.
exports.LINES_TYPE = "application/x-ndjson";
// The longest line we hold, in UTF-16 code units (256 MiB of ASCII). A host exports lines that are shorter.
exports.LINE_LIMIT = 256 * 1024 * 1024;
// The most text of one request, likewise. Some engines cannot make a string that is twice as long.
const BODY_LIMIT = 256 * 1024 * 1024;
/** Turns the text of a body into its lines. */
class LineParser {
    #lines = new line_buffer_js_1.LineBuffer();
    push(text) {
        this.#lines.push(text);
        refuseOverlong(this.#lines.unfinished);
    }
    /** Every line ends in a line feed, so a body that ends elsewhere was cut. */
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
 * The body that these lines make. Every one of them ends in a line feed.
 *
 * @param lines What a caller gave as lines.
 */
async function joinLines(lines, signal, limit = BODY_LIMIT) {
    if (!isIterable(lines))
        throw refusal(`Expected lines, got ${kindOf(lines)}`);
    const parts = [];
    let length = 0;
    // A string is a whole file; its characters are no lines.
    for await (const line of typeof lines === "string" ? [lines] : lines) {
        // Whoever aborted has his answer, and the source need not go on.
        signal?.throwIfAborted();
        if (typeof line !== "string")
            throw refusal(`Expected lines of text, got ${kindOf(line)}`);
        // What stands after the last line feed of a text that was split at them is no line.
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
