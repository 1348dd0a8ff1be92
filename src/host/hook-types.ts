// The public types of hooks.

import type {
  CompactionReason,
  Delivery,
  JsonObject,
  JsonValue,
  ModelRef,
  PromptInput,
  RegisterOptions,
  Registration,
  ToolContent,
  ToolResult,
} from "../index.js";

/** Settings of a hook. */
export interface HookOptions extends RegisterOptions {
  /** Maximum time of one call in milliseconds, from 1 to 600000. Default: 10000. */
  readonly timeoutMs?: number | undefined;
}

/** The subject of every hook. */
export interface HookContext {
  /** Aborts when the result is not needed any more: the time is over, the session was interrupted, or the host closes. */
  readonly signal: AbortSignal;
  /** The session. */
  readonly sessionID: string;
  /** The Location of the session. */
  readonly location: { readonly directory: string };
}

/** A prompt before its admission. */
export interface PromptHookContext extends HookContext {
  /** The id that the caller chose. */
  readonly messageID?: string;
  /** The delivery of the prompt. */
  readonly delivery: Delivery;
  /** The content of the prompt. */
  readonly prompt: PromptInput;
}

/** The prompt to admit instead. */
export interface PromptHookResult {
  readonly prompt: PromptInput;
}

/** The request of a Provider Turn before it is sent. */
export interface RequestHookContext extends HookContext {
  /** The agent of the turn. */
  readonly agent: string;
  /** The model of the turn. */
  readonly model: ModelRef;
  /** True if `sessions.request` shows the request and the host does not send it. */
  readonly preview: boolean;
}

/** Changes of one request. */
export interface RequestHookResult {
  /** Headers. They replace headers with the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Request settings with the names of `agent.<name>.request.body`, such as `temperature`, `maxTokens` or
   * `reasoningEffort`. They override the settings of the agent and the model.
   */
  readonly body?: JsonObject | undefined;
  /**
   * System text of this request only. It follows the Baseline System Context, so a text that differs from that of the
   * request before costs the provider's cache of the whole conversation. A Context Source does not.
   */
  readonly system?: string | undefined;
}

/** A compaction before its summary is requested. */
export interface CompactionHookContext extends HookContext {
  /** The cause of the compaction. */
  readonly reason: CompactionReason;
}

/** The instructions of one summary. */
export interface CompactionHookResult {
  /** Replaces the instructions of the host. The conversation precedes it. */
  readonly prompt?: string | undefined;
  /** Follow the other instructions. */
  readonly instructions?: string | undefined;
}

/** A tool call before it asks for permission. */
export interface ToolCallHookContext extends HookContext {
  /** The name of the tool. */
  readonly tool: string;
  /** The arguments of the model. The tool has not checked them. */
  readonly input: JsonValue;
  /** The assistant message that contains the call. */
  readonly messageID: string;
  /** The provider's id for the call. */
  readonly callID: string;
  /** The agent of the Provider Turn that made the call. */
  readonly agent: string;
}

/** The arguments of the call instead. */
export interface ToolCallHookResult {
  readonly input: JsonValue;
}

/** The result of a tool call before the host stores it: a value with its parts, or the error of a failed call. */
export interface ToolResultHookContext extends Omit<ToolCallHookContext, "input"> {
  /** The value for programs, if the call succeeded. */
  readonly structured?: JsonValue;
  /** The parts for the model, if the call succeeded. If there are none, the model reads the value. */
  readonly content?: readonly ToolContent[];
  /** The message for the model, if the call failed. */
  readonly error?: string;
}

/** The result of the call instead: a result as a tool returns it, or the message of a failure. */
export type ToolResultHookResult = { readonly result: ToolResult } | { readonly error: string };

/** A hook. `undefined` changes nothing. */
type Hook<Context, Result> = (context: Context) => Result | undefined | void | Promise<Result | undefined | void>;

/**
 * Hooks: functions of the program that change the work of the host at one moment. Each is registered for all Locations of
 * the host or for one. Hooks of one moment run one after the other, in the order of their registration, and each receives
 * what the one before has changed. Hooks do not keep the process alive. docs/hooks.md describes them.
 */
export interface HostHooks {
  /**
   * Changes prompts before their admission, those of network clients included, but not those of tasks. The prompts of a
   * session wait for each other. A retry with the same `id` runs the hook again, so it must give the same result for the
   * same prompt, or the retry is a conflict. If the hook fails, the host admits the prompt unchanged and logs the failure.
   *
   * @throws `InvalidOptionError` with the wrong argument as `option`.
   */
  onPrompt(hook: Hook<PromptHookContext, PromptHookResult>, options?: HookOptions): Registration;
  /**
   * Changes the request of each Provider Turn. The prefix report of the step has the reason `hooks` if the request does
   * not continue the one before because of it. If the hook fails, the host sends the request without its changes and logs
   * the failure.
   *
   * @throws `InvalidOptionError` with the wrong argument as `option`.
   * @example
   * ```ts
   * using tracing = opencode.hooks.onRequest(({ sessionID }) => ({ headers: { "x-trace": traceOf(sessionID) } }))
   * ```
   */
  onRequest(hook: Hook<RequestHookContext, RequestHookResult>, options?: HookOptions): Registration;
  /**
   * Changes the instructions of summaries. If the hook fails, the host uses its own instructions and logs the failure.
   *
   * @throws `InvalidOptionError` with the wrong argument as `option`.
   */
  onCompaction(hook: Hook<CompactionHookContext, CompactionHookResult>, options?: HookOptions): Registration;
  /**
   * Changes the arguments of tool calls, before the tool checks them and asks for permission. The history keeps the
   * arguments of the model. If the hook fails, the call fails and does not run.
   *
   * @throws `InvalidOptionError` with the wrong argument as `option`.
   */
  onToolCall(hook: Hook<ToolCallHookContext, ToolCallHookResult>, options?: HookOptions): Registration;
  /**
   * Changes or redacts the results of tool calls before the host stores them. If the hook fails, the call fails and its
   * result is stored nowhere. Calls that were interrupted or declined have no result.
   *
   * @throws `InvalidOptionError` with the wrong argument as `option`.
   */
  onToolResult(hook: Hook<ToolResultHookContext, ToolResultHookResult>, options?: HookOptions): Registration;
}
