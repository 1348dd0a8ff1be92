import type { SessionDurableEvent, SessionErrorUnknown } from "../index.js";
import type { RunFailure, RunFinish, RunUsage } from "./types.js";

/** The end of the work on a prompt, from the log. */
type RecordedEnd =
  | { outcome: "paused"; reason: string }
  | { outcome: "completed" | "declined" | "interrupted" }
  | { outcome: "incomplete" | "step-limit"; reason: string }
  | { outcome: "failed"; error: RunFailure }
  | { outcome: "not-started"; reason: string };

/** The reasons of the ends of answers that are not complete. */
const INCOMPLETE: Partial<Record<string, string>> = {
  length: "The answer reached its limit",
  "content-filter": "The provider withheld the rest",
};

interface Step {
  messageID: string;
  /** Tool calls whose results the model needs. */
  calls: number;
  /** Set if the step settled the structured output, so that nothing follows. */
  output: { value: Record<string, unknown> } | { error: RunFailure } | undefined;
  /** True if the structured output of the step was refused, so that another attempt follows. */
  rejected: boolean;
  declined: boolean;
  interrupted: boolean;
  /** Complete blocks of text by id. */
  texts: Map<string, string>;
}

/**
 * The work on one prompt: from its promotion to the first step after which the model needs no result. A prompt with
 * the delivery `steer` joins this work and does not end it. A step after the end answers another prompt.
 *
 * A pure reducer over durable events.
 */
export class Activity {
  #messageID;
  #steps: Step[] = [];
  #cost = 0;
  #usage = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

  /** The reason for the end of the newest step that ended. */
  finish: RunFinish | undefined = undefined;

  /** The sequence of the newest applied event. */
  seq;
  isPromoted = false;
  end: RecordedEnd | undefined = undefined;

  /**
   * @param messageID The id of the prompt.
   * @param seq The sequence of its admission.
   */
  constructor(messageID: string, seq: number) {
    this.#messageID = messageID;
    this.seq = seq;
  }

  /** The assistant messages, oldest first. */
  get messageIDs() {
    return this.#steps.map(({ messageID }) => messageID);
  }

  /** The text of the newest step with a text. */
  get text() {
    const spoken = this.#steps.findLast(({ texts }) => texts.size > 0);
    return spoken === undefined ? "" : [...spoken.texts.values()].join("");
  }

  /** The structured output of the work, if the model produced it. */
  get output() {
    const output = this.#steps.at(-1)?.output;
    return output !== undefined && "value" in output ? output.value : undefined;
  }

  get usage(): RunUsage {
    return { ...this.#usage, cache: { ...this.#usage.cache } };
  }

  get cost() {
    return this.#cost;
  }

  /** True if a user declined a request of the newest step, which ends the work. */
  get isDeclined() {
    return this.#steps.at(-1)?.declined ?? false;
  }

  /** True if a call of the newest step was interrupted. */
  get isInterrupted() {
    return this.#steps.at(-1)?.interrupted ?? false;
  }

  /** Applies the next event. Returns true if it belongs to the work on the prompt. */
  apply(event: SessionDurableEvent) {
    // Two connections may deliver the same event.
    if (this.end !== undefined || event.durable.seq <= this.seq) return false;
    this.seq = event.durable.seq;
    return this.isPromoted ? this.#work(event) : this.#wait(event);
  }

  #wait(event: SessionDurableEvent) {
    if (event.type === "session.next.prompt.withdrawn" && event.data.messageID === this.#messageID) {
      this.end = { outcome: "not-started", reason: "The prompt was withdrawn before the session took it" };
      return true;
    }
    if (event.type === "session.next.paused") {
      this.end = { outcome: "paused", reason: event.data.message };
      return true;
    }
    this.isPromoted = event.type === "session.next.prompted" && event.data.messageID === this.#messageID;
    return this.isPromoted;
  }

  #work(event: SessionDurableEvent) {
    switch (event.type) {
      case "session.next.prompt.admitted":
      case "session.next.prompted":
      case "session.next.prompt.withdrawn":
      case "session.next.prompt.redelivered":
        return false;
      case "session.next.step.started":
        this.#steps.push({
          messageID: event.data.assistantMessageID,
          calls: 0,
          output: undefined,
          rejected: false,
          declined: false,
          interrupted: false,
          texts: new Map(),
        });
        return true;
      case "session.next.interrupted":
        this.end = { outcome: "interrupted" };
        return true;
      case "session.next.paused":
        this.end = { outcome: "paused", reason: event.data.message };
        return true;
      default:
        if ("assistantMessageID" in event.data) this.#step(event);
        return true;
    }
  }

  #step(event: SessionDurableEvent) {
    const step = this.#steps.at(-1);
    if (step === undefined) return;
    switch (event.type) {
      case "session.next.text.ended":
        step.texts.set(event.data.textID, event.data.text);
        break;
      case "session.next.tool.called":
        if (!event.data.provider.executed) step.calls += 1;
        break;
      case "session.next.tool.failed":
        step.declined ||= event.data.error.cause?.kind === "declined";
        step.interrupted ||= event.data.error.cause?.kind === "interrupted";
        break;
      case "session.next.output.produced":
        step.output = { value: event.data.output };
        break;
      case "session.next.output.failed":
        step.output = { error: failureOf(event.data.error) };
        break;
      case "session.next.output.rejected":
        step.rejected = true;
        break;
      case "session.next.step.ended":
        this.#count(event.data);
        // The schema has a text, because imported logs have other names. The host writes only these.
        this.finish = event.data.finish as RunFinish;
        this.end = endOfStep(step, this.finish, event.metadata ?? {});
        break;
      case "session.next.step.failed":
        this.end = endOf(event.data.error, step);
        break;
      default:
    }
  }

  #count({ cost, tokens }: { cost: number; tokens: RunUsage }) {
    this.#cost += cost;
    this.#usage.input += tokens.input;
    this.#usage.output += tokens.output;
    this.#usage.reasoning += tokens.reasoning;
    this.#usage.cache.read += tokens.cache.read;
    this.#usage.cache.write += tokens.cache.write;
  }
}

/** The end of the work, if a step without a failure ended it. */
function endOfStep(
  { output, calls, rejected }: Step,
  finish: RunFinish,
  { turnLimit, pauseTurn }: Readonly<Record<string, unknown>>,
): RecordedEnd | undefined {
  if (turnLimit) return { outcome: "step-limit", reason: `The work reached its limit of ${turnLimit as number} turns` };
  if (output !== undefined && "error" in output) return { outcome: "failed", error: output.error };
  // The provider goes on after a pause.
  if (output === undefined && (calls > 0 || rejected || pauseTurn === true)) return undefined;
  const reason = output === undefined ? INCOMPLETE[finish] : undefined;
  return reason === undefined ? { outcome: "completed" } : { outcome: "incomplete", reason };
}

/** @param error The failure of the step. */
function endOf(error: SessionErrorUnknown, step: Step): RecordedEnd {
  if (error.cause?.kind === "interrupted") return { outcome: step.declined ? "declined" : "interrupted" };
  return { outcome: "failed", error: failureOf(error) };
}

function failureOf({ message, cause }: SessionErrorUnknown): RunFailure {
  return cause === undefined ? { message } : { message, cause };
}
