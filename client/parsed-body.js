"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.ParsedBody = void 0;
const failures_js_1 = require("./failures.js");
/** The elements of a body. */
class ParsedBody {
    #body;
    #parser;
    constructor(body, parser) {
        this.#body = body;
        this.#parser = parser;
    }
    take() {
        return this.#parser.next();
    }
    async more() {
        const text = await this.#read();
        if (text === null)
            this.#parser.end();
        else
            this.#parser.push(text);
        return text !== null;
    }
    cancel() {
        this.#body.cancel();
    }
    async #read() {
        try {
            return await this.#body.next();
        }
        catch (error) {
            throw (0, failures_js_1.transportError)(error);
        }
    }
}
exports.ParsedBody = ParsedBody;
