// `sessions.run`: one prompt, from its admission to an outcome. Written by hand, made of public operations.

import type {
  Delivery,
  ErrorCause,
  ErrorKind,
  LocationRef,
  ModelRef,
  PermissionRequest,
  PromptInput,
  QuestionRequest,
  SessionDurableEvent,
  SessionErrorUnknown,
  SessionMessage,
} from "../generated/types.js";
import type { CitedSource } from "../types.js";

/** A schema of a library with Standard Schema and a JSON Schema, such as zod from 4.2 on. */
export interface RunStandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, ...more: never[]) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** A schema of the AI SDK: the result of `jsonSchema()` or `zodSchema()`. */
export interface RunAiSdkSchema {
  readonly jsonSchema: unknown;
}

/** A JSON Schema of an object. */
export interface RunJsonSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** The schema of a structured output. */
export type RunOutputSchema = RunStandardSchema | RunAiSdkSchema | RunJsonSchema;

/** A structured output: its schema, or the schema with settings. */
export type RunOutput =
  | RunOutputSchema
  | {
      readonly schema: RunOutputSchema;
      /** Name of the output for the model: a letter, then letters, digits, `_` or `-`. Default: `structured_output`. */
      readonly name?: string | undefined;
      /** Number of further attempts after an invalid output, from 0 to 10. Default: 2. */
      readonly retries?: number | undefined;
    };

/** The type of the output that a schema describes: the output type of a library, otherwise `Record<string, unknown>`. */
export type InferRunOutput<Output> = Output extends { readonly schema: infer Schema }
  ? InferRunOutput<Schema>
  : Output extends RunStandardSchema<infer Value>
    ? Value
    : Record<string, unknown>;

/** The input of `sessions.run`. */
export interface RunInput<Output extends RunOutput | undefined = RunOutput | undefined> {
  /** The session that answers. Default: a new one. */
  readonly sessionID?: string | undefined;
  /** The prompt, as text or with files and agents. */
  readonly prompt: string | PromptInput;
  /**
   * Your own id of the prompt; begins with `msg_`. A repeated call with the same id, session and prompt follows the
   * same work and does not start it again. Default: a new id.
   */
  readonly id?: string | undefined;
  /** The agent. A run selects it for the session permanently. Default: the agent of the session, or the default agent. */
  readonly agent?: string | undefined;
  /**
   * The model, as `"provider/model"` or as a reference. A run selects it for the session permanently. Default: the
   * model of the session, or the default model.
   */
  readonly model?: string | ModelRef | undefined;
  /**
   * System text about this prompt alone, at most 256 KiB. The model reads it directly before the prompt. Default: none.
   */
  readonly system?: string | undefined;
  /**
   * Tools by name, for the work on this prompt alone; at most 1,000. `false` removes a tool, `true` keeps it. A name may
   * contain `*`, which stands for any characters: `{ "*": false, read: true }` leaves `read`. The name of a tool itself
   * has priority, then the longest name with `*`. A tool that the rules of the agent deny stays denied. Default: the
   * tools of the agent.
   */
  readonly tools?: Readonly<Record<string, boolean>> | undefined;
  /** The variant of the model, for the work on this prompt alone. Default: the variant of the session. */
  readonly variant?: string | undefined;
  /**
   * The structured output that the work must produce: its schema, or `{ schema, name, retries }`. The result has the
   * valid value as `output`. Default: none.
   */
  readonly output?: Output;
  /**
   * Delivery of the prompt to a running session. `"steer"`: the model sees it at the next turn. `"queue"`: the session
   * answers it after all earlier prompts. Default: `"steer"`.
   */
  readonly delivery?: Delivery | undefined;
  /** The Location of a new session. Default: the directory of the host. */
  readonly location?: LocationRef | undefined;
  /**
   * Time that a permission or a question of this work, or of its subagents, waits for an answer. `"wait"`: without a
   * limit. `"deny"`: not at all. `{ denyAfterMs }`: this number of milliseconds, from 1 to 2147483647. Then the run
   * refuses it: the model reads that the permission was refused and continues; a refused question ends the work as
   * `"declined"`.
   *
   * Default: `{ denyAfterMs: 60000 }`. On a host with a handler for this kind of request, or with the option
   * `permissions.unanswered`, the default is `"wait"`, because these end it.
   */
  readonly unanswered?: RunUnanswered | undefined;
  /**
   * Longest time in milliseconds, from 1 to 2147483647, in which the session may give no sign of life. After that the
   * run stops the work and ends as `"failed"` with the cause `"silent"`. Signs of life are output of the provider,
   * calls, results and progress of tools, and the same of subagents. A wait for a user, or for a time that a provider
   * asks for, is not silence. `false`: any time. Default: 900000, 15 minutes.
   */
  readonly silentAfterMs?: number | false | undefined;
}

/** Time that a request waits for an answer before a run refuses it. */
export type RunUnanswered = "wait" | "deny" | { readonly denyAfterMs: number };

/** Token counts, as the provider reports them. */
export interface RunUsage {
  /** Input that no cache served. */
  readonly input: number;
  /** Visible output. */
  readonly output: number;
  /** Reasoning output. */
  readonly reasoning: number;
  /** Input that the provider's prompt cache served (`read`) or stored (`write`). */
  readonly cache: { readonly read: number; readonly write: number };
}

/** The cause of a failed run: that of the provider or the runtime, or `"silent"` after `silentAfterMs`. */
export interface RunCause extends Omit<ErrorCause, "kind"> {
  readonly kind: ErrorKind | "silent";
}

/** The failure of a run. */
export interface RunFailure {
  readonly message: string;
  /** The kind of the failure. `retryable` is true if the same request may succeed later. */
  readonly cause?: RunCause;
}

/**
 * The reason for the end of a turn: the model is done (`stop`) or waits for results (`tool-calls`), a limit of its
 * length or a filter of the provider cut the answer off (`length`, `content-filter`), or the provider gave no reason
 * (`unknown`).
 */
export type RunFinish = "stop" | "length" | "tool-calls" | "content-filter" | "unknown";

/**
 * The end of the work on a prompt.
 *
 * - `completed`: the model has answered and waits for nothing.
 * - `incomplete`: the answer has no end, because it reached a limit of its length or because the provider withheld the
 *   rest. `finish` says which. The next prompt may ask for the rest.
 * - `failed`: `error` has the reason.
 * - `interrupted`: a user, `abort()`, the signal, or the end of the host stopped it.
 * - `declined`: a rejected permission or question ended it.
 * - `step-limit`: the model called tools in as many turns as one prompt may take.
 * - `paused`: a budget is used up. `sessions.resume` continues the work with a larger budget, without this run.
 * - `not-started`: the session did not take the prompt; `reason` is a sentence, for example about an unusable model or a missing
 *   directory. The prompt stays pending, unless it was withdrawn. The session takes it when it runs the next time.
 */
export type RunOutcome =
  | "completed"
  | "incomplete"
  | "failed"
  | "interrupted"
  | "declined"
  | "step-limit"
  | "paused"
  | "not-started";

/** The result of a run. */
export interface RunResult<Output = unknown> {
  readonly outcome: RunOutcome;
  /** The reason for the end of the newest turn that did not fail. Absent if there is none. */
  readonly finish?: RunFinish;
  /** The session that answered. */
  readonly sessionID: string;
  /** The id of the prompt, which is the id of its user message. */
  readonly messageID: string;
  /** The answer: the text of the newest turn with a text. Empty if there is none. */
  readonly text: string;
  /** The assistant messages that answer the prompt, oldest first. */
  readonly messages: readonly SessionMessage[];
  /** The sources that the answers cite, each once. */
  readonly sources: readonly CitedSource[];
  /** The structured output that the prompt asked for. Absent unless the outcome is `completed`. */
  readonly output?: Output;
  /** Tokens of all turns. */
  readonly usage: RunUsage;
  /** Cost of all turns, in the currency of the configured prices. */
  readonly cost: number;
  /** With `failed`, and with `not-started` where the session named a failure. */
  readonly error?: RunFailure;
  /** The reason of any other outcome than `completed`, as a sentence. Absent with `completed`. */
  readonly reason?: string;
}

/** A piece of text, as it arrives. All pieces of one block add up to the text that is stored. */
export interface RunText {
  readonly type: "text";
  readonly text: string;
  /** The assistant message. */
  readonly messageID: string;
  /** The block within it. */
  readonly textID: string;
}

/** A piece of reasoning, as it arrives. */
export interface RunReasoning {
  readonly type: "reasoning";
  readonly text: string;
  /** The assistant message. */
  readonly messageID: string;
  /** The block within it. */
  readonly reasoningID: string;
}

/** A tool call that changed. */
export interface RunTool {
  readonly type: "tool";
  /** `pending` while the model writes the arguments. */
  readonly status: "pending" | "running" | "completed" | "failed";
  /** The name of the tool. */
  readonly tool: string;
  readonly callID: string;
  /** The assistant message. */
  readonly messageID: string;
  /** The arguments, when the call begins to run. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The text of the result for the model, or of the progress so far. */
  readonly output?: string;
  /** The structured value of the result, for programs. */
  readonly structured?: Readonly<Record<string, unknown>>;
  /** The reason of a failure. */
  readonly error?: SessionErrorUnknown;
}

/**
 * The work waits for an answer of the user. Answer with `permissions.reply`, or `questions.reply` and `questions.reject`; any client
 * may. The request may come from a child session.
 */
export type RunNeedsInput =
  | { readonly type: "needs-input"; readonly kind: "permission"; readonly request: PermissionRequest }
  | { readonly type: "needs-input"; readonly kind: "question"; readonly request: QuestionRequest };

/** A durable event of the work on the prompt. */
export interface RunEvent {
  readonly type: "event";
  readonly event: SessionDurableEvent;
}

/** The last part of every run. */
export interface RunEnd {
  readonly type: "end";
  readonly result: RunResult;
}

/** An element of the iteration over a run. */
export type RunPart = RunText | RunReasoning | RunTool | RunNeedsInput | RunEvent | RunEnd;

/**
 * The work on one prompt. It begins with the call, also without an iteration. A late or slow iteration loses nothing.
 * Leaving the loop does not stop the work; `abort()` does.
 */
export interface SessionRun<Output = unknown> extends AsyncIterable<RunPart> {
  /**
   * The result. Rejects only if the prompt could not be admitted: with a failure of `sessions.create`,
   * `switchAgent`, `switchModel` or `prompt`, or with a `ClientError`. The iteration then throws the same.
   */
  readonly result: Promise<RunResult<Output>>;
  /** The text of the result. Rejects as `result` does. */
  readonly text: Promise<string>;
  /** The session, as soon as the prompt is admitted. Rejects as `result` does. */
  readonly sessionID: Promise<string>;
  /** The id of the prompt, as soon as it is admitted. Rejects as `result` does. */
  readonly messageID: Promise<string>;
  /**
   * Stops the work: withdraws the prompt if the session has not taken it yet, else interrupts the session. Resolves
   * when that is done; the outcome then is `interrupted`, unless the work had ended before. Never rejects.
   */
  abort(): Promise<void>;
}
