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
import type { NativeAttendance } from "./native-types.js";

/** Returns a function that sends the answer, or undefined if another handler should answer. */
type Answer<Request> = (request: Request, options: HandlerOptions) => Promise<(() => Promise<void>) | undefined>;

/** A function, and the signals of its pending calls. */
type Handler<Request> = { answer: Answer<Request>; signals: Signals };

type Warn = (message: string, fields: Record<string, unknown>) => void;

/** The functions of a host that answer requests of one kind. The last registered one is called first. */
class Handlers<Request extends { id: string; sessionID: string }> {
  #kind;
  #attend;
  #warn;
  #handlers: readonly Handler<Request>[] = [];
  /** Set while a handler is registered. */
  #attendance: NativeAttendance | undefined = undefined;
  /** The ids of the waiting requests. */
  #waiting = new Set<string>();

  /**
   * @param kind Name of the kind in warnings.
   * @param attend Calls back with each request.
   * @param warn Writes to the log.
   */
  constructor(kind: string, attend: (attendant: Attendant<Request>) => NativeAttendance, warn: Warn) {
    this.#kind = kind;
    this.#attend = attend;
    this.#warn = warn;
  }

  register(answer: Answer<Request>): Registration {
    this.#attendance ??= this.#begin();
    // A new object, because a caller may register the same function twice.
    const handler: Handler<Request> = { answer, signals: new Signals() };
    this.#handlers = [handler, ...this.#handlers];
    return registration(() => this.#remove(handler));
  }

  get isEmpty() {
    return this.#handlers.length === 0;
  }

  #begin() {
    // Ignores notices of an earlier registration. The next registration receives the waiting requests again.
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
   * Calls the handlers one after the other. A handler that fails leaves the request to users: it may have wanted to
   * forbid something, so a more permissive handler must not overrule it because of a mistake.
   */
  async #handle(request: Request) {
    const { id, sessionID } = request;
    this.#waiting.add(id);
    for (const handler of this.#handlers) {
      // An earlier handler may have taken a long time.
      if (!this.#waiting.has(id)) return;
      if (!this.#handlers.includes(handler)) continue;
      const signal = handler.signals.begin(id);
      try {
        const send = await handler.answer(request, { signal });
        // An answer after the abort is too late.
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

/** True if another client has answered, or the request does not wait any longer. */
function isOver(error: unknown) {
  try {
    if (isClientError(error)) return (error.cause as { code?: unknown } | undefined)?.code === HOST_CLOSED;
    return ["PermissionNotFoundError", "QuestionNotFoundError", "SessionNotFoundError"].some((tag) =>
      isTagged(error, tag),
    );
  } catch {
    // A value that a function throws may throw when it is inspected.
    return false;
  }
}

function checkFunction(kind: string, handler: unknown) {
  if (typeof handler !== "function")
    throw new TypeError(`A handler of ${kind} must be a function, got ${typeof handler}`);
}

/** `permissions.handle` and `questions.handle` of a host. Handlers answer through the methods of the client. */
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
