"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.NativeConnection = void 0;
const abort_js_1 = require("../client/abort.js");
const errors_js_1 = require("../client/errors.js");
const failures_js_1 = require("../client/failures.js");
const keep_alive_js_1 = require("./keep-alive.js");
// Numbers of calls fit 32 bits and begin again; no call lives that long.
const LAST_CALL = 0xffffffff;
/** Hosts that listen. A program may hold neither the host nor the listener any more, and still be a server. */
const listening = new Set();
/** The native host, in objects instead of texts. It knows when it is closed; its failures are ClientErrors. */
class NativeConnection {
    #native;
    #staysAlive;
    #settled;
    #listeners = new Set();
    #closing = undefined;
    #lastCall = 0;
    /**
     * @param native Just opened.
     * @param staysAlive Whether the process stays alive while a session works, or a listener listens.
     */
    constructor(native, staysAlive) {
        this.#native = native;
        this.#staysAlive = staysAlive;
        this.#settled = staysAlive ? (0, keep_alive_js_1.keepAlive)(native) : () => { };
        this.#settled();
    }
    /**
     * Admitted in the order of the calls: nothing here waits before the native call.
     *
     * An abort gives the call up on the other side as well, which would keep the process alive for its answer.
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
            // A copy, because a Buffer has other methods than what comes over the network.
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
    /** @param options As JSON. */
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
     * Calls back with each request of one kind, and with the id of each that waits no more: for permissions and
     * questions of every request, otherwise of those without an answer. It does not keep the process alive.
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
    /** @param answer As JSON. */
    answerEnvironment(id, answer) {
        this.#native.answerEnvironment(id, answer);
    }
    /** @param answer As JSON. */
    answerTrust(id, answer) {
        this.#native.answerTrust(id, answer);
    }
    /** @param directory Null is the directory of requests that name none. */
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
     * Tells the log of a mistake of a function of the program.
     *
     * @param fields `sessionID` and `directory` say what it is about.
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
    /** What its clients have set going may keep the process alive from now on. */
    #forget(listener) {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0)
            listening.delete(this);
        this.#settled();
    }
    /** Ends every stream and every call, and resolves when the file is closed. Only the first call closes. */
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
