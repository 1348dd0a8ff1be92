"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.EventParser = exports.EVENT_LIMIT = void 0;
const errors_js_1 = require("./errors.js");
const json_js_1 = require("./json.js");
const line_buffer_js_1 = require("./line-buffer.js");
// The largest event, and the largest unfinished line, we hold, in UTF-16 code units (256 MiB of ASCII). A host stores
// events that are smaller.
exports.EVENT_LIMIT = 256 * 1024 * 1024;
// The name of the one frame that is no element: the server's last word about a stream that failed.
const FAILURE = "effect/httpapi/stream/failure";
/** Turns the text of an event stream into its elements. */
class EventParser {
    #lines = new line_buffer_js_1.LineBuffer();
    /** The data lines of the frame being read, joined. */
    #data = undefined;
    #name = "";
    /** Whether the last chunk ended in CR, whose LF may begin the next one. */
    #skipLineFeed = false;
    push(chunk) {
        this.#lines.push(this.#normalise(chunk));
        this.#refuseOverlong(this.#lines.unfinished);
    }
    /** The body has ended. What is left counts as a frame, also without the blank line that ends one. */
    end() {
        this.push("\n\n");
    }
    next() {
        for (let line = this.#lines.next(); line !== undefined; line = this.#lines.next()) {
            if (line !== "")
                this.#field(line);
            else if (this.#data !== undefined)
                return this.#dispatch(this.#data);
            else
                this.#name = "";
        }
        return undefined;
    }
    /** Makes every line end a LF. Almost all streams have no CR and pass untouched. */
    #normalise(chunk) {
        if (chunk === "")
            return chunk;
        const text = this.#skipLineFeed && chunk.startsWith("\n") ? chunk.slice(1) : chunk;
        this.#skipLineFeed = chunk.endsWith("\r");
        return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    }
    #field(line) {
        if (line.startsWith("data:"))
            this.#append(line.slice(line.startsWith(" ", 5) ? 6 : 5));
        else if (line === "data")
            this.#append("");
        else if (line.startsWith("event:"))
            this.#name = line.slice(line.startsWith(" ", 6) ? 7 : 6);
    }
    #append(value) {
        this.#refuseOverlong(value.length);
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    }
    #refuseOverlong(length) {
        if (length + (this.#data?.length ?? 0) > exports.EVENT_LIMIT)
            throw (0, json_js_1.malformed)("An event larger than 256 MiB");
    }
    #dispatch(data) {
        const name = this.#name;
        this.#data = undefined;
        this.#name = "";
        if (name === FAILURE)
            throw new errors_js_1.ClientError("Transport", { cause: (0, json_js_1.parseJson)(data) });
        // The contract says which type the elements have.
        const element = (0, json_js_1.parseObject)(data);
        return element;
    }
}
exports.EventParser = EventParser;
