import type { OpenCodeClient, OpenCodeEvent } from "../index.js";
import type { RequestOptions } from "../types.js";
import type { RunNeedsInput, RunUnanswered } from "./types.js";

type Pending = { part: RunNeedsInput; timer: ReturnType<typeof setTimeout> | undefined };

// Greater than the height of any tree of sessions.
const MOST_PARENTS = 64;

/** Requests of a session and its child sessions to users, and the answer if none arrives in time. */
export class PendingRequests {
  #client;
  #options;
  #unanswered;
  #onChange;
  #pending: Map<string, Pending> = new Map();
  /** Known sessions. True for the session of the run and its descendants. */
  #families: Map<string, Promise<boolean>> = new Map();
  #isStopped = false;

  /** The reason of the last answer of the run itself. */
  denial: string | undefined = undefined;

  constructor(
    client: OpenCodeClient,
    options: RequestOptions,
    unanswered: (kind: RunNeedsInput["kind"]) => RunUnanswered,
    onChange: () => void,
  ) {
    this.#client = client;
    this.#options = options;
    this.#unanswered = unanswered;
    this.#onChange = onChange;
  }

  /** Waiting requests, oldest first. */
  get parts() {
    return Array.from(this.#pending.values(), ({ part }) => part);
  }

  follow(sessionID: string) {
    this.#families.set(sessionID, Promise.resolve(true));
  }

  /** Applies an event of the live stream. */
  apply(event: OpenCodeEvent) {
    switch (event.type) {
      case "permission.v2.asked":
        void this.#ask({ type: "needs-input", kind: "permission", request: event.data });
        break;
      case "question.v2.asked":
        void this.#ask({ type: "needs-input", kind: "question", request: event.data });
        break;
      case "permission.v2.replied":
      case "question.v2.replied":
      case "question.v2.rejected":
        this.#remove(event.data.requestID);
        break;
      default:
    }
  }

  /** Reads the waiting requests of a session: those from before the live stream was connected. */
  async refresh(sessionID: string) {
    const [permissions, questions] = await Promise.all([
      this.#client.permissions.list({ sessionID }, this.#options),
      this.#client.questions.list({ sessionID }, this.#options),
    ]);
    for (const request of permissions) void this.#ask({ type: "needs-input", kind: "permission", request });
    for (const request of questions) void this.#ask({ type: "needs-input", kind: "question", request });
  }

  stop() {
    this.#isStopped = true;
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  async #ask(part: RunNeedsInput) {
    const { id, sessionID } = part.request;
    if (this.#pending.has(id) || !(await this.isFamily(sessionID))) return;
    if (this.#isStopped || this.#pending.has(id)) return;
    const unanswered = this.#unanswered(part.kind);
    const pending: Pending = { part, timer: undefined };
    this.#pending.set(id, pending);
    if (unanswered === "deny") void this.#deny(part, "This run answers no requests");
    if (typeof unanswered === "object") {
      const reason = `The ${part.kind} was not answered within ${unanswered.denyAfterMs / 1000} s`;
      pending.timer = setTimeout(() => void this.#deny(part, reason), unanswered.denyAfterMs);
    }
    this.#onChange();
  }

  /**
   * Refuses a request. The model reads the reason of a refused permission and continues. A rejected question ends the
   * work.
   */
  async #deny({ kind, request }: RunNeedsInput, reason: string) {
    const { sessionID, id: requestID } = request;
    this.denial = reason;
    try {
      if (kind === "question") await this.#client.questions.reject({ sessionID, requestID }, this.#options);
      else {
        const answer = { sessionID, requestID, reply: "reject" as const, message: reason };
        await this.#client.permissions.reply(answer, this.#options);
      }
    } catch {
      // Another client has answered, or the host is closed. The run receives an event of both.
    }
  }

  #remove(requestID: string) {
    const pending = this.#pending.get(requestID);
    if (pending === undefined) return;
    clearTimeout(pending.timer);
    this.#pending.delete(requestID);
    this.#onChange();
  }

  /** True if the session is that of the run or a descendant. */
  isFamily(sessionID: string) {
    let isFamily = this.#families.get(sessionID);
    if (isFamily === undefined) {
      isFamily = this.#descends(sessionID).catch(() => false);
      this.#families.set(sessionID, isFamily);
    }
    return isFamily;
  }

  async #descends(sessionID: string) {
    let id = sessionID;
    for (let height = 0; height < MOST_PARENTS; height += 1) {
      const { parentID } = await this.#client.sessions.get({ sessionID: id }, this.#options);
      if (parentID === undefined) return false;
      if (await this.#families.get(parentID)) return true;
      id = parentID;
    }
    return false;
  }
}
