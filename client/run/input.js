"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.readInput = readInput;
const operations_js_1 = require("../generated/operations.js");
const members_js_1 = require("../members.js");
const shape_js_1 = require("../shape.js");
const MEMBERS = {
    sessionID: null,
    prompt: operations_js_1.shapes.PromptInput,
    id: null,
    agent: null,
    model: operations_js_1.shapes.ModelRef,
    delivery: null,
    location: operations_js_1.shapes.LocationRef,
    unanswered: { denyAfterMs: null },
};
// Timers take 31 bits. A longer delay would be no delay.
const LONGEST_DELAY_MS = 2 ** 31 - 1;
/**
 * Checks an input before a session is created. Its operations would refuse it too late, or not at all. Throws the
 * tagged failure `InvalidRequestError`.
 *
 * @param input The input of a caller that may not use TypeScript.
 */
function readInput(input, options) {
    (0, members_js_1.checkRequestOptions)("sessions.run", options);
    if (typeof input !== "object" || input === null) {
        throw (0, shape_js_1.invalidRequest)('sessions.run takes an object: write run({ prompt: "..." })', "prompt");
    }
    (0, members_js_1.checkMembers)("sessions.run", input, MEMBERS);
    checkPrompt(input.prompt);
    checkUnanswered(input.unanswered);
    return { model: readModel(input.model) };
}
function checkPrompt(prompt) {
    if (typeof prompt === "string")
        return;
    if (typeof prompt === "object" && prompt !== null && "text" in prompt)
        return;
    throw (0, shape_js_1.invalidRequest)('prompt must be a text, or an object such as { text: "...", files: [] }', "prompt");
}
function checkUnanswered(unanswered) {
    if (unanswered === undefined || unanswered === "wait" || unanswered === "deny")
        return;
    const delay = unanswered?.denyAfterMs;
    if (typeof delay === "number" && Number.isInteger(delay) && delay >= 1 && delay <= LONGEST_DELAY_MS)
        return;
    const expected = `"wait", "deny" or { denyAfterMs } with a whole number from 1 to ${LONGEST_DELAY_MS}`;
    throw (0, shape_js_1.invalidRequest)(`unanswered must be ${expected}`, "unanswered");
}
function readModel(model) {
    if (typeof model !== "string")
        return model;
    const slash = model.indexOf("/");
    if (slash > 0 && slash < model.length - 1)
        return { providerID: model.slice(0, slash), id: model.slice(slash + 1) };
    const message = `model must be "provider/model", such as "openai/gpt-4.1-mini", not ${JSON.stringify(model)}`;
    throw (0, shape_js_1.invalidRequest)(message, "model");
}
