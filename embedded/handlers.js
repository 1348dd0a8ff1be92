"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.createHandlers = createHandlers;
const errors_js_1 = require("../client/errors.js");
const failures_js_1 = require("../client/failures.js");
const registration_js_1 = require("./registration.js");
const signals_js_1 = require("./signals.js");
/** The functions of a host that answer requests of one kind. The last registered one is called first. */
class Handlers {
    #kind;
    #attend;
    #warn;
    #handlers = [];
    /** Set while a handler is registered. */
    #attendance = undefined;
    /** The ids of the waiting requests. */
    #waiting = new Set();
    /**
     * @param kind Name of the kind in warnings.
     * @param attend Calls back with each request.
     * @param warn Writes to the log.
     */
    constructor(kind, attend, warn) {
        this.#kind = kind;
        this.#attend = attend;
        this.#warn = warn;
    }
    register(answer) {
        this.#attendance ??= this.#begin();
        // A new object, because a caller may register the same function twice.
        const handler = { answer, signals: new signals_js_1.Signals() };
        this.#handlers = [handler, ...this.#handlers];
        return (0, registration_js_1.registration)(() => this.#remove(handler));
    }
    get isEmpty() {
        return this.#handlers.length === 0;
    }
    #begin() {
        // Ignores notices of an earlier registration. The next registration receives the waiting requests again.
        const isCurrent = () => this.#attendance === attendance;
        const attendance = this.#attend({
            asked: (request) => {
                if (isCurrent())
                    void this.#handle(request);
            },
            ended: (id) => {
                if (isCurrent())
                    this.#end(id);
            },
        });
        return attendance;
    }
    #remove(handler) {
        this.#handlers = this.#handlers.filter((other) => other !== handler);
        if (this.#handlers.length === 0) {
            this.#attendance?.stop();
            this.#attendance = undefined;
            this.#waiting.clear();
        }
        handler.signals.abortAll();
    }
    #end(id) {
        this.#waiting.delete(id);
        for (const { signals } of this.#handlers)
            signals.abort(id);
    }
    /**
     * Calls the handlers one after the other. A handler that fails leaves the request to users: it may have wanted to
     * forbid something, so a more permissive handler must not overrule it because of a mistake.
     */
    async #handle(request) {
        const { id, sessionID } = request;
        this.#waiting.add(id);
        for (const handler of this.#handlers) {
            // An earlier handler may have taken a long time.
            if (!this.#waiting.has(id))
                return;
            if (!this.#handlers.includes(handler))
                continue;
            const signal = handler.signals.begin(id);
            try {
                const send = await handler.answer(request, { signal });
                // An answer after the abort is too late.
                if (send === undefined || signal.aborted)
                    continue;
                handler.signals.finish(id);
                return await send();
            }
            catch (error) {
                if (signal.aborted)
                    continue;
                if (!isOver(error)) {
                    this.#warn(`A handler of ${this.#kind} failed and leaves ${id} unanswered: ${(0, registration_js_1.words)(error)}`, { sessionID });
                }
                return;
            }
        }
    }
}
/** True if another client has answered, or the request does not wait any longer. */
function isOver(error) {
    try {
        if ((0, errors_js_1.isClientError)(error))
            return error.cause?.code === failures_js_1.HOST_CLOSED;
        return ["PermissionNotFoundError", "QuestionNotFoundError", "SessionNotFoundError"].some((tag) => (0, errors_js_1.isTagged)(error, tag));
    }
    catch {
        // A value that a function throws may throw when it is inspected.
        return false;
    }
}
function checkFunction(kind, handler) {
    if (typeof handler !== "function")
        throw new TypeError(`A handler of ${kind} must be a function, got ${typeof handler}`);
}
/** `permissions.handle` and `questions.handle` of a host. Handlers answer through the methods of the client. */
function createHandlers(connection, client) {
    const warn = (message, fields) => connection.warn(message, fields);
    const permissions = new Handlers("permissions", (attendant) => connection.attend("askedPermissions", attendant), warn);
    const questions = new Handlers("questions", (attendant) => connection.attend("askedQuestions", attendant), warn);
    return {
        isHandled: (kind) => !(kind === "permission" ? permissions : questions).isEmpty,
        handlePermissions(handler) {
            checkFunction("permissions", handler);
            return permissions.register(async (request, options) => {
                const answer = await handler(request, options);
                if (answer === undefined)
                    return undefined;
                const { id: requestID, sessionID } = request;
                const { reply, message } = typeof answer === "object" && answer !== null ? answer : { reply: answer };
                return () => client.permissions.reply({ sessionID, requestID, reply, ...(message === undefined ? {} : { message }) });
            });
        },
        handleQuestions(handler) {
            checkFunction("questions", handler);
            return questions.register(async (request, options) => {
                const answer = await handler(request, options);
                if (answer === undefined)
                    return undefined;
                const { id: requestID, sessionID } = request;
                if (answer === "reject")
                    return () => client.questions.reject({ sessionID, requestID });
                return () => client.questions.reply({ sessionID, requestID, answers: answer.map((labels) => [...labels]) });
            });
        },
    };
}
