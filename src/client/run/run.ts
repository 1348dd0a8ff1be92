import { onAbort } from "../abort.js";
import { ClientError } from "../errors.js";
import { resumeEvents } from "../resume.js";
import { isPassing } from "../retry.js";
import { Activity } from "./activity.js";
import { OpenBlocks } from "./blocks.js";
import { deferred } from "./deferred.js";
import { readInput } from "./input.js";
import { readOutput } from "./output.js";
import { PendingRequests } from "./requests.js";
import { conclude } from "./result.js";
import { Silence } from "./silence.js";
import type { NamedError, OpenCodeClient, OpenCodeEvent, SessionDurableEvent } from "../index.js";
import type { RequestOptions } from "../types.js";
import type { LiveEvents, LiveListener } from "./live.js";
import type { ReadOutput } from "./output.js";
import type { RunFailure, RunInput, RunNeedsInput, RunResult, RunUnanswered } from "./types.js";

export type Begun = { sessionID: string; messageID: string; admittedSeq: number; isRepeated: boolean };

// In a row without an event: three to five minutes.
const MAX_RETRIES = 30;

// Long enough for a model that thinks without a word, and for any command of the tool bash.
const SILENT_AFTER_MS = 15 * 60_000;

// Delay before the run asks a server again that could not answer, in milliseconds.
const ASK_AGAIN_MS = 1_000;

/** One prompt, from its admission to an outcome. */
export class Run {
  #client;
  #live;
  #input;
  #options;
  #signal;
  #watchers: Set<() => void> = new Set();
  /** Resolves if the session may have stopped. */
  #stopped = deferred();
  /** The last failure that the session reported. No event of the log contains it. */
  #failure: RunFailure | undefined = undefined;
  #isAborted = false;
  #output: ReadOutput | undefined = undefined;
  /** Known before the prompt is admitted. */
  #sessionID: string | undefined = undefined;
  /** Sessions whose events are signs of life: that of the run and its descendants. */
  #family: Set<string> = new Set();
  #silence: Silence;
  #silent: RunFailure | undefined = undefined;

  readonly blocks = new OpenBlocks();
  readonly requests: PendingRequests;
  /** The session and the prompt, from the admission of the prompt on. */
  readonly begun: Promise<Begun>;
  readonly result: Promise<RunResult>;
  /** True if the host has closed. It answers no further request. */
  isDisposed = false;
  ended: { seq: number; result: RunResult } | undefined = undefined;

  constructor(
    client: OpenCodeClient,
    live: LiveEvents,
    input: RunInput,
    options: RequestOptions,
    unanswered: (kind: RunNeedsInput["kind"]) => RunUnanswered,
  ) {
    this.#client = client;
    this.#live = live;
    this.#input = input;
    this.#options = { headers: options.headers ?? undefined };
    this.#signal = options.signal ?? undefined;
    this.#silence = new Silence(input?.silentAfterMs ?? SILENT_AFTER_MS, (ms) => void this.#endSilence(ms));
    this.requests = new PendingRequests(client, this.#options, unanswered, () => {
      this.#silence.stir();
      this.#changed();
    });
    const release = this.#signal === undefined ? () => {} : onAbort(this.#signal, () => void this.abort());
    this.begun = this.#begin(options);
    this.result = this.begun
      .then((begun) => this.#follow(begun))
      .finally(() => {
        release();
        this.#silence.stop();
        this.#live.leave(this.#listener);
        this.requests.stop();
        this.#changed();
      });
    // A caller may ignore these promises. Their rejection must not end its process.
    this.begun.catch(() => {});
    this.result.catch(() => {});
  }

  /** @param notify Called if there is more to collect. */
  watch(notify: () => void) {
    this.#watchers.add(notify);
  }

  unwatch(notify: () => void) {
    this.#watchers.delete(notify);
  }

  /**
   * The durable events after the admission of the prompt.
   *
   * @param onRetry Called before a reconnection with the number of failed connections in a row.
   */
  events({ sessionID, admittedSeq }: Begun, onRetry?: (retry: number) => void) {
    const { headers } = this.#options;
    return resumeEvents(this.#client, {
      sessionID,
      after: admittedSeq,
      headers,
      maxRetries: MAX_RETRIES,
      onRetry: ({ retry }) => onRetry?.(retry),
    });
  }

  /** Withdraws the prompt, or interrupts the session if it was promoted. Resolves after that. */
  async abort() {
    this.#isAborted = true;
    const begun = await this.begun.catch(() => undefined);
    if (begun !== undefined) await this.#stopWork(begun);
  }

  async #stopWork({ sessionID, messageID }: Begun) {
    if (this.ended !== undefined) return;
    try {
      await this.#client.sessions.inbox.withdraw({ sessionID, messageID }, this.#options);
    } catch {
      // The prompt was promoted or withdrawn already. A closed host has interrupted everything.
      await this.#client.sessions.interrupt({ sessionID }, this.#options).catch(() => {});
    }
    this.#stop();
  }

  async #begin(options: RequestOptions): Promise<Begun> {
    const { model } = readInput(this.#input, options);
    const { agent, location, id, prompt, delivery, system, tools, variant } = this.#input;
    this.#output = readOutput(this.#input.output);
    this.#throwIfAborted();
    await this.#abortable(this.#live.join(this.#listener));
    this.#throwIfAborted();
    const { sessions } = this.#client;
    const sessionID = this.#input.sessionID ?? (await sessions.create({ agent, model, location }, this.#options)).id;
    if (this.#input.sessionID !== undefined) {
      if (agent !== undefined) await sessions.switchAgent({ sessionID, agent }, this.#options);
      if (model !== undefined) await sessions.switchModel({ sessionID, model }, this.#options);
    }
    this.#throwIfAborted();
    this.#sessionID = sessionID;
    this.#family.add(sessionID);
    this.requests.follow(sessionID);
    const settings = { system, tools, variant, output: this.#output?.wire };
    const receipt = await sessions.prompt({ sessionID, id, prompt, delivery, ...settings }, this.#options);
    const { id: messageID, admittedSeq, promotedSeq } = receipt;
    return { sessionID, messageID, admittedSeq, isRepeated: promotedSeq !== undefined };
  }

  async #follow(begun: Begun): Promise<RunResult> {
    const activity = new Activity(begun.messageID, begun.admittedSeq);
    const events = this.events(begun)[Symbol.asyncIterator]();
    let lost: unknown;
    this.#silence.start();
    try {
      // Runs beside everything else. If the connection has failed, the next request reports it.
      if (this.#input.sessionID !== undefined) void this.requests.refresh(begun.sessionID).catch(() => {});
      // There are no more events of a prompt that was answered before.
      if (begun.isRepeated) this.#stop();
      await this.#read(events, activity, begun.sessionID);
    } catch (error) {
      lost = error;
    } finally {
      events.return?.().catch(() => {});
    }
    const { isDisposed, requests } = this;
    const state = {
      lost,
      isDisposed,
      failure: this.#failure,
      isAborted: this.#isAborted,
      denial: requests.denial,
      silence: this.#silent,
    };
    const concluded = await conclude(this.#client, this.#options, begun, activity, state);
    const result = await this.#withOutput(concluded, activity);
    this.ended = { seq: activity.seq, result };
    return result;
  }

  /** Adds the structured output. A library may refuse a value that its JSON Schema accepts. */
  async #withOutput(result: RunResult, { output }: Activity): Promise<RunResult> {
    if (output === undefined || result.outcome !== "completed") return result;
    try {
      return { ...result, output: this.#output === undefined ? output : await this.#output.validate(output) };
    } catch (error) {
      const message = `The schema of the program refused the output: ${error instanceof Error ? error.message : String(error)}`;
      const cause = { kind: "invalid-output", retryable: false } as const;
      return { ...result, outcome: "failed", error: { message, cause }, reason: message };
    }
  }

  /**
   * Reads events until the log contains the end of the work, or until the session has stopped without such an event.
   */
  async #read(events: AsyncIterator<SessionDurableEvent>, activity: Activity, sessionID: string) {
    let reading = events.next();
    while (activity.end === undefined) {
      const next = await Promise.race([reading, this.#stopped.promise]);
      if (next === undefined) {
        this.#stopped = deferred();
        if (await this.#isActive(sessionID)) continue;
        return this.#catchUp(activity, sessionID);
      }
      if (next.done) return;
      activity.apply(next.value);
      this.#silence.apply(next.value);
      if (activity.end === undefined) reading = events.next();
    }
  }

  /**
   * Returns true if the session works. If the server cannot answer now, the run asks again later, until the stream of
   * events fails for good.
   */
  async #isActive(sessionID: string) {
    if (this.isDisposed) return false;
    try {
      return Object.hasOwn(await this.#client.sessions.active(this.#options), sessionID);
    } catch (error) {
      if (!isPassing(error)) throw error;
      setTimeout(() => this.#stop(), ASK_AGAIN_MS);
      return true;
    }
  }

  async #catchUp(activity: Activity, sessionID: string) {
    for (let hasMore = true; hasMore && activity.end === undefined;) {
      const page = await this.#client.sessions.history({ sessionID, after: activity.seq }, this.#options);
      for (const event of page.data) activity.apply(event);
      hasMore = page.hasMore;
    }
  }

  #listener: LiveListener = {
    onEvent: (event) => this.#receive(event),
    onGap: () => {
      this.blocks.clear();
      this.#stop();
      if (this.#sessionID !== undefined) void this.requests.refresh(this.#sessionID).catch(() => {});
    },
    onFailure: () => {
      const sessionID = this.#sessionID;
      if (sessionID === undefined) return;
      // Signs of life are not visible any more.
      this.#silence.stop();
      const stop = () => this.#stop();
      void this.#client.sessions.wait({ sessionID }, this.#options).then(stop, stop);
    },
  };

  #receive(event: OpenCodeEvent) {
    if (event.type === "global.disposed") {
      this.isDisposed = true;
      this.#stop();
    }
    this.requests.apply(event);
    if (!("sessionID" in event.data)) return;
    if (event.type === "session.created" && this.#family.has(event.data.info.parentID ?? "")) {
      this.#family.add(event.data.sessionID);
    }
    if (this.#family.has(event.data.sessionID)) this.#silence.apply(event);
    if (event.data.sessionID !== this.#sessionID) return;
    switch (event.type) {
      case "session.idle":
        this.#stop();
        break;
      case "session.error":
        this.#failure = failureOf(event.data.error);
        break;
      case "session.next.prompt.admitted":
      case "session.next.step.started":
        // An earlier failure belongs to another prompt, or the session has recovered from it.
        this.#failure = undefined;
        break;
      default:
        if (this.blocks.apply(event)) this.#changed();
    }
  }

  /** Stops the work after its silence, unless it waits for a user or for a session that this run does not know yet. */
  async #endSilence(silentMs: number) {
    const { signs } = this.#silence;
    const begun = await this.begun;
    if (this.requests.parts.length > 0 || (await this.#findWorkingChild()) || signs !== this.#silence.signs) return;
    const message = `Provider and tools gave no sign of life for ${silentMs / 1000} s`;
    this.#silent = { message, cause: { kind: "silent", retryable: true } };
    await this.#stopWork(begun);
  }

  /**
   * Looks for working child sessions whose events this run has not followed so far: a task may continue a session of an
   * earlier one. Returns true if there is one.
   */
  async #findWorkingChild() {
    try {
      const active = Object.keys(await this.#client.sessions.active(this.#options));
      const known = this.#family.size;
      for (const id of active) if (await this.requests.isFamily(id)) this.#family.add(id);
      return this.#family.size > known;
    } catch {
      // The stream of events reports a server that is gone.
      return false;
    }
  }

  #stop() {
    this.#stopped.resolve(undefined);
  }

  #changed() {
    for (const notify of this.#watchers) notify();
  }

  #throwIfAborted() {
    if (this.#isAborted || this.#signal?.aborted) {
      throw new ClientError("Transport", { cause: this.#signal?.reason ?? new Error("The run was aborted") });
    }
  }

  #abortable(work: Promise<unknown>) {
    const signal = this.#signal;
    if (signal === undefined) return work;
    return new Promise((resolve, reject) => {
      const release = onAbort(signal, () => reject(new ClientError("Transport", { cause: signal.reason })));
      work.finally(release).then(resolve, reject);
    });
  }
}

function failureOf({ data: { message }, cause }: NamedError): RunFailure {
  return cause === undefined ? { message } : { message, cause };
}
