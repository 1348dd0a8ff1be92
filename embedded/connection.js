"use strict";

const { onAbort } = require("../client/abort.js");
const { ClientError, HOST_CLOSED, taggedError, transportError } = require("../client/errors.js");
const { keepAlive } = require("./keep-alive.js");

// Numbers of calls fit 32 bits and begin again; no call lives that long.
const LAST_CALL = 0xffffffff;

/**
 * @typedef {import("../client/internal.js").TextStream} TextStream
 * @typedef {import("./native.js").NativeBody} NativeBody
 * @typedef {import("./native.js").NativeHost} NativeHost
 * @typedef {import("./native.js").NativeListener} NativeListener
 * @typedef {{ method: string, url: string, headers: [string, string][] }} RequestHead `url` is path and query.
 * @typedef {{ status: number, headers: [string, string][] }} ResponseHead
 * @typedef {ResponseHead & { body: string | Uint8Array<ArrayBuffer> | TextStream }} NativeResponse
 */

/**
 * Answers requests of one kind.
 *
 * @template Request
 * @template Id
 * @typedef {{ asked: (request: Request) => void, ended: (id: Id) => void }} Attendant
 */

/**
 * Hosts that listen. A program may hold neither the host nor the listener any more, and still be a server.
 *
 * @type {Set<NativeConnection>}
 */
const listening = new Set();

/** The native host, in objects instead of texts. It knows when it is closed; its failures are ClientErrors. */
class NativeConnection {
  #native;
  #staysAlive;
  #settled;
  /** @type {Set<NativeListener>} */
  #listeners = new Set();
  /** @type {Promise<void> | undefined} */
  #closing = undefined;
  #lastCall = 0;

  /**
   * @param {NativeHost} native Just opened.
   * @param {boolean} staysAlive Whether the process stays alive while a session works, or a listener listens.
   */
  constructor(native, staysAlive) {
    this.#native = native;
    this.#staysAlive = staysAlive;
    this.#settled = staysAlive ? keepAlive(native) : () => {};
    this.#settled();
  }

  /**
   * Admitted in the order of the calls: nothing here waits before the native call.
   *
   * An abort gives the call up on the other side as well, which would keep the process alive for its answer.
   *
   * @param {RequestHead} head
   * @param {string | null} body
   * @param {AbortSignal} [signal]
   * @returns {Promise<NativeResponse>}
   */
  async send(head, body, signal) {
    if (this.#closing !== undefined) throw closedError();
    const call = signal === undefined ? 0 : (this.#lastCall = (this.#lastCall % LAST_CALL) + 1);
    const release = signal === undefined ? undefined : onAbort(signal, () => this.#native.cancel(call));
    try {
      const answer = await this.#native.request(JSON.stringify(head), body, call);
      if (typeof answer === "string") return readFinished(answer);
      // A copy, because a Buffer has other methods than what comes over the network.
      return { ...readHead(answer.head), body: "bytes" in answer ? new Uint8Array(answer.bytes) : answer };
    } catch (error) {
      throw transportError(error);
    } finally {
      release?.();
      this.#settled();
    }
  }

  /**
   * @param {string} options As JSON.
   * @returns {Promise<NativeListener>}
   */
  async listen(options) {
    if (this.#closing !== undefined) throw closedError();
    const opened = await this.#native.listen(options);
    if (this.#closing !== undefined) throw closedError();
    if (typeof opened === "string") throw taggedError(JSON.parse(opened));
    this.#listeners.add(opened);
    listening.add(this);
    // A pending promise keeps the process alive.
    if (this.#staysAlive) void opened.closed().then(() => this.#forget(opened));
    return opened;
  }

  /**
   * Calls back with each request of one kind, and with the id of each that waits no more: for permissions and
   * questions of every request, otherwise of those without an answer. It does not keep the process alive.
   *
   * @template Request
   * @template Id
   * @param {"askedPermissions" | "askedQuestions" | "askedEnvironments" | "askedTrust"} kind
   * @param {Attendant<Request, Id>} attendant
   */
  attend(kind, attendant) {
    if (this.#closing !== undefined) throw closedError();
    return this.#native[kind]((text) => {
      const notice = JSON.parse(text);
      if ("asked" in notice) attendant.asked(notice.asked);
      else attendant.ended(notice.ended);
    });
  }

  /**
   * @param {number} id
   * @param {string} answer As JSON.
   */
  answerEnvironment(id, answer) {
    this.#native.answerEnvironment(id, answer);
  }

  /**
   * @param {number} id
   * @param {string} answer As JSON.
   */
  answerTrust(id, answer) {
    this.#native.answerTrust(id, answer);
  }

  /**
   * @param {string | null} directory Null is the directory of requests that name none.
   * @param {boolean} trusted
   */
  async trust(directory, trusted) {
    if (this.#closing !== undefined) throw closedError();
    const failure = await this.#native.trust(directory, trusted).catch((error) => {
      throw transportError(error);
    });
    if (failure !== null) throw taggedError(JSON.parse(failure));
  }

  /**
   * Tells the log of a mistake of a function of the program.
   *
   * @param {string} message
   * @param {Record<string, unknown>} fields `sessionID` and `directory` say what it is about.
   */
  warn(message, fields) {
    this.#native.warn(message, JSON.stringify(fields));
  }

  /** @param {NativeListener} listener */
  async closeListener(listener) {
    try {
      await listener.close();
    } catch (error) {
      throw transportError(error);
    } finally {
      this.#forget(listener);
    }
  }

  /**
   * What its clients have set going may keep the process alive from now on.
   *
   * @param {NativeListener} listener
   */
  #forget(listener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) listening.delete(this);
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
    } catch (error) {
      throw transportError(error);
    } finally {
      listening.delete(this);
    }
  }
}

/**
 * @param {string} answer
 * @returns {NativeResponse}
 */
function readFinished(answer) {
  const end = answer.indexOf("\n");
  return { ...readHead(answer.slice(0, end)), body: answer.slice(end + 1) };
}

/**
 * @param {string} text
 * @returns {ResponseHead}
 */
function readHead(text) {
  return JSON.parse(text);
}

function closedError() {
  return new ClientError("Transport", { cause: Object.assign(new Error("The host is closed"), { code: HOST_CLOSED }) });
}

exports.NativeConnection = NativeConnection;
