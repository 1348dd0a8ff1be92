import { isClientError, isTagged } from "../client/errors.js";
import { HOST_CLOSED } from "../client/failures.js";
import { registration, words } from "./registration.js";
import { Signals } from "./signals.js";
import type {
  HandlerOptions,
  OpenCodeClient,
  PermissionHandler,
  PermissionRequest,
  QuestionHandler,
  QuestionRequest,
  Registration,
} from "../index.js";
import type { Attendant, NativeConnection } from "./connection.js";
import type { NativeAttendance } from "./native.js";

/** What a function answers, ready to be sent; undefined where it leaves that to others. */
type Answer<Request> = (request: Request, options: HandlerOptions) => Promise<(() => Promise<void>) | undefined>;

/** A function, and the signals of its calls for requests that wait. */
type Handler<Request> = { answer: Answer<Request>; signals: Signals<string> };

type Warn = (message: string, fields: Record<string, unknown>) => void;

/** The functions of a host that answer requests of one kind. The one that came last is asked first. */
class Handlers<Request extends { id: string; sessionID: string }> {
  #kind;
  #attend;
  #warn;
  #handlers: readonly Handler<Request>[] = [];
  /** There is one while there is a handler. */
  #attendance: NativeAttendance | undefined = undefined;
  /** The ids of the requests that wait. */
  #waiting = new Set<string>();

  /**
   * @param kind What is requested, for warnings.
   * @param attend Calls back with each request.
   * @param warn Tells the log.
   */
  constructor(kind: string, attend: (attendant: Attendant<Request>) => NativeAttendance, warn: Warn) {
    this.#kind = kind;
    this.#attend = attend;
    this.#warn = warn;
  }

  register(answer: Answer<Request>): Registration {
    this.#attendance ??= this.#begin();
    // A function may be registered twice.
    const handler: Handler<Request> = { answer, signals: new Signals() };
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

  #remove(handler: Handler<Request>) {
    this.#handlers = this.#handlers.filter((other) => other !== handler);
    if (this.#handlers.length === 0) {
      this.#attendance?.stop();
      this.#attendance = undefined;
      this.#waiting.clear();
    }
    handler.signals.abortAll();
  }

  #end(id: string) {
    this.#waiting.delete(id);
    for (const { signals } of this.#handlers) signals.abort(id);
  }

  /**
   * One that fails leaves the request to people: a handler that was to forbid something must not be overruled by a
   * more generous one because of a mistake in it.
   */
  async #handle(request: Request) {
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

/** Somebody else has answered, or nobody waits any more. */
function isOver(error: unknown) {
  try {
    if (isClientError(error)) return (error.cause as { code?: unknown } | undefined)?.code === HOST_CLOSED;
    return ["PermissionNotFoundError", "QuestionNotFoundError", "SessionNotFoundError"].some((tag) =>
      isTagged(error, tag),
    );
  } catch {
    // What a function throws may refuse to be looked at.
    return false;
  }
}

function checkFunction(kind: string, handler: unknown) {
  if (typeof handler !== "function")
    throw new TypeError(`A handler of ${kind} must be a function, got ${typeof handler}`);
}

/** `permissions.handle` and `questions.handle` of a host. What they answer goes the way of every other answer. */
export function createHandlers(
  connection: NativeConnection,
  client: Pick<OpenCodeClient, "permissions" | "questions">,
) {
  const warn: Warn = (message, fields) => connection.warn(message, fields);
  const permissions = new Handlers<PermissionRequest>(
    "permissions",
    (attendant) => connection.attend("askedPermissions", attendant),
    warn,
  );
  const questions = new Handlers<QuestionRequest>(
    "questions",
    (attendant) => connection.attend("askedQuestions", attendant),
    warn,
  );
  return {
    isHandled: (kind: "permission" | "question") => !(kind === "permission" ? permissions : questions).isEmpty,
    handlePermissions(handler: PermissionHandler) {
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
    handleQuestions(handler: QuestionHandler) {
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
