"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.TerminalEnvironment = void 0;
const request_js_1 = require("../client/request.js");
const checks_js_1 = require("./checks.js");
const registration_js_1 = require("./registration.js");
const signals_js_1 = require("./signals.js");
/**
 * The functions of a host that give variables to its terminals. The host calls all of them, and the last registered
 * one wins.
 */
class TerminalEnvironment {
    #connection;
    /** In the order of their registration. */
    #hooks = [];
    /** Set while a function is registered or called. */
    #attendance = undefined;
    /** The signals of the waiting terminals. */
    #signals = new signals_js_1.Signals();
    constructor(connection) {
        this.#connection = connection;
    }
    register(given) {
        if (typeof given !== "function")
            throw new TypeError(`ptys.environment takes a function, got ${(0, checks_js_1.describe)(given)}`);
        // A new function, because a caller may register the same function twice.
        const hook = (context, options) => given(context, options);
        this.#attendance ??= this.#connection.attend("askedEnvironments", {
            asked: (request) => void this.#answer(request),
            ended: (id) => this.#end(id),
        });
        this.#hooks = [...this.#hooks, hook];
        return (0, registration_js_1.registration)(() => this.#remove(hook));
    }
    #remove(hook) {
        this.#hooks = this.#hooks.filter((other) => other !== hook);
        this.#stopUnlessNeeded();
    }
    /** A function that was called may still answer, and receives the end of its request, after its removal. */
    #stopUnlessNeeded() {
        if (this.#hooks.length > 0 || !this.#signals.isEmpty)
            return;
        this.#attendance?.stop();
        this.#attendance = undefined;
    }
    async #answer({ id, ...context }) {
        const signal = this.#signals.begin(id);
        const answer = await this.#collect(context, signal);
        if (signal.aborted)
            return;
        this.#connection.answerEnvironment(id, answer.text);
        // If one function failed, the others can stop.
        if (answer.isFailure)
            this.#signals.abort(id);
        else
            this.#signals.finish(id);
        this.#stopUnlessNeeded();
    }
    #end(id) {
        this.#signals.abort(id);
        this.#stopUnlessNeeded();
    }
    /**
     * Returns the answer as JSON. A terminal does not start with a part of its variables, because it might run a wrong
     * program or reach a wrong server.
     */
    async #collect(context, signal) {
        try {
            const given = await Promise.all(this.#hooks.map(async (hook) => readVariables(await hook({ ...context }, { signal }))));
            // Fails if the text is longer than a string can be.
            return { text: (0, request_js_1.encodeJson)({ variables: given.flat() }), isFailure: false };
        }
        catch (error) {
            if (signal.aborted)
                return { text: "", isFailure: true };
            const { cwd, directory } = context;
            this.#connection.warn(`A function of ptys.environment failed and a terminal does not begin: ${(0, registration_js_1.words)(error)}`, {
                cwd,
                directory,
            });
            return { text: (0, request_js_1.encodeJson)({ error: (0, registration_js_1.words)(error) }), isFailure: true };
        }
    }
}
exports.TerminalEnvironment = TerminalEnvironment;
/** @param given The value that a function returned. */
function readVariables(given) {
    if (typeof given !== "object" || given === null || Symbol.iterator in given) {
        throw new TypeError(`it must give an object of strings, got ${(0, checks_js_1.describe)(given)}`);
    }
    const variables = Object.entries(given);
    for (const [name, value] of variables) {
        if (typeof value === "string")
            continue;
        throw new TypeError(`it must give strings, but ${JSON.stringify(name)} is ${(0, checks_js_1.describe)(value)}`);
    }
    return variables;
}
