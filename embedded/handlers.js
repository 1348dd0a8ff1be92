"use strict";

const { HOST_CLOSED, isClientError, isTagged } = require("../client/errors.js");
const { registration, words } = require("./registration.js");
const { Signals } = require("./signals.js");

/**
 * @typedef {import("../index.js").HandlerOptions} HandlerOptions
 * @typedef {import("../index.js").OpenCodeClient} OpenCodeClient
 * @typedef {import("../index.js").PermissionHandler} PermissionHandler
 * @typedef {import("../index.js").PermissionRequest} PermissionRequest
 * @typedef {import("../index.js").QuestionHandler} QuestionHandler
 * @typedef {import("../index.js").QuestionRequest} QuestionRequest
 * @typedef {import("../index.js").Registration} Registration
 * @typedef {import("./native.js").NativeAttendance} NativeAttendance
 */

/**
 * @template Request
 * @typedef {(request: Request, options: HandlerOptions) => Promise<(() => Promise<void>) | undefined>} Answer What a
 *   function answers, ready to be sent; undefined where it leaves that to others.
 */

/**
 * @template Request
 * @typedef {import("./connection.js").Attendant<Request, string>} Attendant
 */

/**
 * @template Request
 * @typedef {{ answer: Answer<Request>, signals: Signals<string> }} Handler A function, and the signals of its calls for
 *   requests that wait.
 */

/**
 * The functions of a host that answer requests of one kind. The one that came last is asked first.
 *
 * @template {{ id: string, sessionID: string }} Request
 */
class Handlers {
  #kind;
  #attend;
  #warn;
  /** @type {readonly Handler<Request>[]} */
  #handlers = [];
  /** @type {NativeAttendance | undefined} There is one while there is a handler. */
  #attendance = undefined;
  /** @type {Set<string>} The ids of the requests that wait. */
  #waiting = new Set();

  /**
   * @param {string} kind What is requested, for warnings.
   * @param {(attendant: Attendant<Request>) => NativeAttendance} attend Calls back with each request.
   * @param {(message: string, fields: Record<string, unknown>) => void} warn Tells the log.
   */
  constructor(kind, attend, warn) {
    this.#kind = kind;
    this.#attend = attend;
    this.#warn = warn;
  }

  /**
   * @param {Answer<Request>} answer
   * @returns {Registration}
   */
  register(answer) {
    this.#attendance ??= this.#begin();
    // A function may be registered twice.
    const handler = { answer, signals: new Signals() };
    this.#handlers = [handler, ...this.#handlers];
    return registration(() => this.#remove(handler));
  }

  get isEmpty() {
    return this.#handlers.length === 0;
  }

  #begin() {
    // What was on its way when the last function went comes once more to the next one.
    const isCurrent = () => this.#attendance === attendance;
    const attendance = this.#attend({
      asked: (request) => {
        if (isCurrent()) void this.#handle(request);
      },
      ended: (id) => {
        if (isCurrent()) this.#end(id);
      },
    });
    return attendance;
  }

  /** @param {Handler<Request>} handler */
  #remove(handler) {
    this.#handlers = this.#handlers.filter((other) => other !== handler);
    if (this.#handlers.length === 0) {
      this.#attendance?.stop();
      this.#attendance = undefined;
      this.#waiting.clear();
    }
    handler.signals.abortAll();
  }

  /** @param {string} id */
  #end(id) {
    this.#waiting.delete(id);
    for (const { signals } of this.#handlers) signals.abort(id);
  }

  /**
   * One that fails leaves the request to people: a handler that was to forbid something must not be overruled by a
   * more generous one because of a mistake in it.
   *
   * @param {Request} request
   */
  async #handle(request) {
    const { id, sessionID } = request;
    this.#waiting.add(id);
    for (const handler of this.#handlers) {
      // One before it may have taken its time.
      if (!this.#waiting.has(id)) return;
      if (!this.#handlers.includes(handler)) continue;
      const signal = handler.signals.begin(id);
      try {
        const send = await handler.answer(request, { signal });
        // An answer after the abort comes too late.
        if (send === undefined || signal.aborted) continue;
        handler.signals.finish(id);
        return await send();
      } catch (error) {
        if (signal.aborted) continue;
        if (!isOver(error)) {
          this.#warn(`A handler of ${this.#kind} failed and leaves ${id} unanswered: ${words(error)}`, { sessionID });
        }
        return;
      }
    }
  }
}

/**
 * Somebody else has answered, or nobody waits any more.
 *
 * @param {unknown} error
 */
function isOver(error) {
  try {
    if (isClientError(error)) return /** @type {{ code?: unknown } | undefined} */ (error.cause)?.code === HOST_CLOSED;
    return ["PermissionNotFoundError", "QuestionNotFoundError", "SessionNotFoundError"].some((tag) =>
      isTagged(error, tag),
    );
  } catch {
    // What a function throws may refuse to be looked at.
    return false;
  }
}

/**
 * @param {string} kind
 * @param {unknown} handler
 */
function checkFunction(kind, handler) {
  if (typeof handler !== "function")
    throw new TypeError(`A handler of ${kind} must be a function, got ${typeof handler}`);
}

/**
 * `permissions.handle` and `questions.handle` of a host. What they answer goes the way of every other answer.
 *
 * @param {import("./connection.js").NativeConnection} connection
 * @param {Pick<OpenCodeClient, "permissions" | "questions">} client
 */
function createHandlers(connection, client) {
  /** @type {(message: string, fields: Record<string, unknown>) => void} */
  const warn = (message, fields) => connection.warn(message, fields);
  /** @type {Handlers<PermissionRequest>} */
  const permissions = new Handlers("permissions", (given) => connection.attend("askedPermissions", given), warn);
  /** @type {Handlers<QuestionRequest>} */
  const questions = new Handlers("questions", (given) => connection.attend("askedQuestions", given), warn);
  return {
    /** @param {"permission" | "question"} kind */
    isHandled: (kind) => !(kind === "permission" ? permissions : questions).isEmpty,
    /** @param {PermissionHandler} handler */
    handlePermissions(handler) {
      checkFunction("permissions", handler);
      return permissions.register(async (request, options) => {
        const answer = await handler(request, options);
        if (answer === undefined) return undefined;
        const { id: requestID, sessionID } = request;
        const { reply, message } = typeof answer === "object" && answer !== null ? answer : { reply: answer };
        return () =>
          client.permissions.reply({ sessionID, requestID, reply, ...(message === undefined ? {} : { message }) });
      });
    },
    /** @param {QuestionHandler} handler */
    handleQuestions(handler) {
      checkFunction("questions", handler);
      return questions.register(async (request, options) => {
        const answer = await handler(request, options);
        if (answer === undefined) return undefined;
        const { id: requestID, sessionID } = request;
        if (answer === "reject") return () => client.questions.reject({ sessionID, requestID });
        return () => client.questions.reply({ sessionID, requestID, answers: answer.map((labels) => [...labels]) });
      });
    },
  };
}

module.exports = { createHandlers };
