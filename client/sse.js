"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.EventParser = exports.EVENT_LIMIT = void 0;
const errors_js_1 = require("./errors.js");
const json_js_1 = require("./json.js");
const line_buffer_js_1 = require("./line-buffer.js");
// Largest event, and largest incomplete line, in UTF-16 code units (256 MiB of ASCII). The events of a host are
// smaller.
exports.EVENT_LIMIT = 256 * 1024 * 1024;
// Name of the only frame that is not an element: the failure of the stream.
const FAILURE = "effect/httpapi/stream/failure";
/** Turns the text of an event stream into its elements. */
class EventParser {
    #lines = new line_buffer_js_1.LineBuffer();
    /** The joined data lines of the current frame. */
    #data = undefined;
    #name = "";
    /** True if the last chunk ended with CR, whose LF may begin the next chunk. */
    #skipLineFeed = false;
    push(chunk) {
        this.#lines.push(this.#normalise(chunk));
        this.#refuseOverlong(this.#lines.unfinished);
    }
    /** Reports the end of the body. The rest counts as a frame, also without an empty line. */
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
    /** Converts line ends to LF. Almost all streams have no CR. */
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
        // The contract defines the type of the elements.
        const element = (0, json_js_1.parseObject)(data);
        return element;
    }
}
exports.EventParser = EventParser;
