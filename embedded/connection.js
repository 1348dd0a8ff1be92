"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.NativeConnection = void 0;
const abort_js_1 = require("../client/abort.js");
const errors_js_1 = require("../client/errors.js");
const failures_js_1 = require("../client/failures.js");
const request_js_1 = require("../client/request.js");
const keep_alive_js_1 = require("./keep-alive.js");
// Numbers of calls have 32 bits and repeat. No call lives that long.
const LAST_CALL = 0xffffffff;
/** Hosts that listen. This set keeps them alive if the program drops the host and the listener. */
const listening = new Set();
/** The native host with objects instead of texts. It knows if it is closed. Its failures are ClientErrors. */
class NativeConnection {
    #native;
    #staysAlive;
    #settled;
    #listeners = new Set();
    #closing = undefined;
    #lastCall = 0;
    /**
     * @param native A host that was just opened.
     * @param staysAlive True if the process stays alive while a session works or a listener listens.
     */
    constructor(native, staysAlive) {
        this.#native = native;
        this.#staysAlive = staysAlive;
        this.#settled = staysAlive ? (0, keep_alive_js_1.keepAlive)(native) : () => { };
        this.#settled();
    }
    /**
     * Sends a request. Requests are admitted in the order of the calls, because nothing is awaited before the native
     * call.
     *
     * An abort also cancels the call in the native host. Otherwise its pending answer would keep the process alive.
     */
    async send(head, body, signal) {
        if (this.#closing !== undefined)
            throw closedError();
        const call = signal === undefined ? 0 : (this.#lastCall = (this.#lastCall % LAST_CALL) + 1);
        const release = signal === undefined ? undefined : (0, abort_js_1.onAbort)(signal, () => this.#native.cancel(call));
        try {
            const answer = await this.#native.request(JSON.stringify(head), body, call);
            if (typeof answer === "string")
                return readFinished(answer);
            // A copy, because a Buffer has other methods than the bytes of a network answer.
            return { ...readHead(answer.head), body: "bytes" in answer ? new Uint8Array(answer.bytes) : answer };
        }
        catch (error) {
            throw (0, failures_js_1.transportError)(error);
        }
        finally {
            release?.();
            this.#settled();
        }
    }
    /** @param options JSON. */
    async listen(options) {
        if (this.#closing !== undefined)
            throw closedError();
        const opened = await this.#native.listen(options);
        if (this.#closing !== undefined)
            throw closedError();
        if (typeof opened === "string")
            throw (0, failures_js_1.taggedError)(JSON.parse(opened));
        this.#listeners.add(opened);
        listening.add(this);
        // A pending promise keeps the process alive.
        if (this.#staysAlive)
            void opened.closed().then(() => this.#forget(opened));
        return opened;
    }
    /**
     * Calls back with each request of one kind, and with the id of each request that ends. Permissions and questions
     * end for every reason, the other kinds only without an answer. It does not keep the process alive.
     */
    attend(kind, attendant) {
        if (this.#closing !== undefined)
            throw closedError();
        return this.#native[kind]((text) => {
            const notice = JSON.parse(text);
            if ("asked" in notice)
                attendant.asked(notice.asked);
            else
                attendant.ended(notice.ended);
        });
    }
    /** Calls back with each notice about a call of a function of the program. It does not keep the process alive. */
    attendCalls(receive) {
        if (this.#closing !== undefined)
            throw closedError();
        return this.#native.programCalls((notices) => {
            for (const notice of JSON.parse(notices))
                receive(notice);
        });
    }
    /** @param message JSON. */
    answer(call, message) {
        this.#native.answer(call, message);
    }
    /** Returns the number of the registered tool. Throws a tagged failure. */
    registerTool(tool, directory) {
        if (this.#closing !== undefined)
            throw closedError();
        const registered = this.#native.registerTool((0, request_js_1.encodeJson)(tool), directory ?? null);
        if (typeof registered === "string")
            throw (0, failures_js_1.taggedError)(JSON.parse(registered));
        return registered;
    }
    /** Returns the number of the registered Context Source. Throws a tagged failure. */
    registerContextSource(source, directory) {
        if (this.#closing !== undefined)
            throw closedError();
        const registered = this.#native.registerContextSource((0, request_js_1.encodeJson)(source), directory ?? null);
        if (typeof registered === "string")
            throw (0, failures_js_1.taggedError)(JSON.parse(registered));
        return registered;
    }
    /** Returns the number of the registered hook. Throws a tagged failure. */
    registerHook(hook, directory) {
        if (this.#closing !== undefined)
            throw closedError();
        const registered = this.#native.registerHook((0, request_js_1.encodeJson)(hook), directory ?? null);
        if (typeof registered === "string")
            throw (0, failures_js_1.taggedError)(JSON.parse(registered));
        return registered;
    }
    removeHook(number) {
        this.#native.removeHook(number);
    }
    /** Begins the recovery of interrupted sessions that the options chose. */
    beginRecovery() {
        if (this.#closing === undefined)
            this.#native.beginRecovery();
        this.#settled();
    }
    removeContextSource(number) {
        this.#native.removeContextSource(number);
    }
    removeTool(number) {
        this.#native.removeTool(number);
    }
    /** @param answer JSON. */
    answerEnvironment(id, answer) {
        this.#native.answerEnvironment(id, answer);
    }
    /** @param directory Null is the directory of requests without a directory. */
    async trust(directory, trusted) {
        if (this.#closing !== undefined)
            throw closedError();
        const failure = await this.#native.trust(directory, trusted).catch((error) => {
            throw (0, failures_js_1.transportError)(error);
        });
        if (failure !== null)
            throw (0, failures_js_1.taggedError)(JSON.parse(failure));
    }
    /**
     * Writes a warning about a function of the program to the log.
     *
     * @param fields `sessionID` and `directory` name the session and the Location.
     */
    warn(message, fields) {
        this.#native.warn(message, JSON.stringify(fields));
    }
    async closeListener(listener) {
        try {
            await listener.close();
        }
        catch (error) {
            throw (0, failures_js_1.transportError)(error);
        }
        finally {
            this.#forget(listener);
        }
    }
    /** Work that clients have started may keep the process alive from now on. */
    #forget(listener) {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0)
            listening.delete(this);
        this.#settled();
    }
    /** Ends all streams and calls, and resolves when the file is closed. Only the first call closes the host. */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }
    async #close() {
        try {
            await this.#native.close();
        }
        catch (error) {
            throw (0, failures_js_1.transportError)(error);
        }
        finally {
            listening.delete(this);
        }
    }
}
exports.NativeConnection = NativeConnection;
function readFinished(answer) {
    const end = answer.indexOf("\n");
    return { ...readHead(answer.slice(0, end)), body: answer.slice(end + 1) };
}
function readHead(text) {
    return JSON.parse(text);
}
function closedError() {
    return new errors_js_1.ClientError("Transport", { cause: Object.assign(new Error("The host is closed"), { code: failures_js_1.HOST_CLOSED }) });
}
