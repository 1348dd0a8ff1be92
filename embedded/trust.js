"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.answerTrust = answerTrust;
exports.createTrust = createTrust;
const members_js_1 = require("../client/members.js");
const request_js_1 = require("../client/request.js");
const shape_js_1 = require("../client/shape.js");
const checks_js_1 = require("./checks.js");
const registration_js_1 = require("./registration.js");
const signals_js_1 = require("./signals.js");
const METHOD = "location.trust";
const SHAPE = { location: { directory: null }, trusted: null };
/** Keeps each attendance reachable as long as its connection. A collected attendance stops. */
const attendances = new WeakMap();
/** Lets the function of the option `trust` decide about each Location. */
function answerTrust(connection, decide) {
    const signals = new signals_js_1.Signals();
    const answerOne = async ({ id, directory }) => {
        const signal = signals.begin(id);
        const answer = await ask(decide, directory, signal);
        // An answer after the abort is too late, and a failure after it is not a mistake.
        if (signal.aborted)
            return;
        signals.finish(id);
        if (answer.error !== undefined) {
            connection.warn(`The function of the option "trust" decides nothing: ${answer.error}`, { directory });
        }
        connection.answerTrust(id, (0, request_js_1.encodeJson)(answer));
    };
    const attendance = connection.attend("askedTrust", {
        asked: (question) => void answerOne(question),
        ended: (id) => signals.abort(id),
    });
    attendances.set(connection, attendance);
}
/** Returns the answer of the function, or the reason why there is none. */
async function ask(decide, directory, signal) {
    try {
        const trusted = (await decide(directory, { signal }));
        if (typeof trusted === "boolean")
            return { trusted };
        return { error: `it must return true or false, got ${(0, checks_js_1.describe)(trusted)}` };
    }
    catch (error) {
        return { error: `it failed: ${(0, registration_js_1.words)(error)}` };
    }
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
