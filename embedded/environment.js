"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.TerminalEnvironment = void 0;
const request_js_1 = require("../client/request.js");
const checks_js_1 = require("./checks.js");
const registration_js_1 = require("./registration.js");
const signals_js_1 = require("./signals.js");
/** The functions of a host that give variables to its terminals. All of them are asked; the one that came last wins. */
class TerminalEnvironment {
    #connection;
    /** In the order of their registration. */
    #hooks = [];
    /** There is one while there is a function, or one is asked. */
    #attendance = undefined;
    /** Of the terminals that wait. */
    #signals = new signals_js_1.Signals();
    constructor(connection) {
        this.#connection = connection;
    }
    register(given) {
        if (typeof given !== "function")
            throw new TypeError(`ptys.environment takes a function, got ${(0, checks_js_1.describe)(given)}`);
        // Not the caller's own function, which may be registered twice.
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
    /** A function that was asked is heard, and hears the end of its request, although it is taken back. */
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
        // Where one function failed, the others need not go on.
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
     * The answer as JSON. The terminal does not begin with a part of what it was to get: that might be the wrong program,
     * or the wrong server.
     */
    async #collect(context, signal) {
        try {
            const given = await Promise.all(this.#hooks.map(async (hook) => readVariables(await hook({ ...context }, { signal }))));
            // No string holds what is too large.
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
/** @param given What a function gave. */
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
