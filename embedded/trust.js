"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.answerTrust = answerTrust;
exports.createTrust = createTrust;
const members_js_1 = require("../client/members.js");
const shape_js_1 = require("../client/shape.js");
const checks_js_1 = require("./checks.js");
const registration_js_1 = require("./registration.js");
const METHOD = "location.trust";
const SHAPE = { location: { directory: null }, trusted: null };
/** Lets the function of the option `trust` decide about each Location. */
function answerTrust(connection, program, decide) {
    program.define("trust", async ({ directory }, { signal }) => {
        try {
            return { result: await ask(decide, directory, signal) };
        }
        catch (error) {
            // A failure after the abort is not a mistake.
            if (!signal.aborted) {
                connection.warn(`The function of the option "trust" decides nothing: ${messageOf(error)}`, { directory });
            }
            throw error;
        }
    });
}
async function ask(decide, directory, signal) {
    let trusted;
    try {
        trusted = await decide(directory, { signal });
    }
    catch (error) {
        throw new Error(`it failed: ${(0, registration_js_1.words)(error)}`, { cause: error });
    }
    if (typeof trusted === "boolean")
        return trusted;
    throw new TypeError(`it must return true or false, got ${(0, checks_js_1.describe)(trusted)}`);
}
function messageOf(error) {
    return error.message;
}
/** `location.trust` of a host. */
function createTrust(connection) {
    return async function trust(input) {
        const { directory, trusted } = checkInput(input);
        await connection.trust(directory, trusted);
    };
}
/** Throws the tagged failure `InvalidRequestError`. */
function checkInput(input) {
    if (!isRecord(input) || typeof input.trusted !== "boolean") {
        throw (0, shape_js_1.invalidRequest)(`${METHOD} takes { location?, trusted }, where trusted is true or false`, "trusted");
    }
    (0, members_js_1.checkMembers)(METHOD, input, SHAPE);
    const location = input.location ?? {};
    if (!isRecord(location)) {
        throw (0, shape_js_1.invalidRequest)(`location must be { directory }, got ${(0, checks_js_1.describe)(location)}`, "location");
    }
    const { directory } = location;
    if (directory !== undefined && typeof directory !== "string") {
        throw (0, shape_js_1.invalidRequest)(`location.directory must be a string, got ${(0, checks_js_1.describe)(directory)}`, "location.directory");
    }
    return { directory: directory ?? null, trusted: input.trusted };
}
function isRecord(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
