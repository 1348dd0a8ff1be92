// The public types of models of the program.

import type { CitedSource, JsonObject, JsonValue, ModelConfig, RegisterOptions, Registration } from "../index.js";

/** Data that a provider attached to a part and expects back with it: members under the namespace of the provider. */
export type ProviderMetadata = Readonly<Record<string, JsonValue>>;

/** A model of a provider of the program: the members of models in the configuration, without an API. */
export type ProviderModel = Omit<ModelConfig, "api"> & {
  /** The name of the model in requests, if it differs from its id. */
  readonly api?: { readonly id?: string | undefined } | undefined;
};

/** A provider whose models are a function of the program. */
export interface ModelProvider {
  /** The id. Sessions name a model `id/model`. The provider replaces a configured provider with the same id. */
  readonly id: string;
  /** The name for people. Default: the id. */
  readonly name?: string | undefined;
  /**
   * The models by their id, at least one. `{}` describes a model that calls tools, reads text and images, and has
   * unknown limits and prices. The host compacts a session only if it knows `limit.context`.
   */
  readonly models: Readonly<Record<string, ProviderModel>>;
  /**
   * Answers a request. The host calls it once for each attempt of a Provider Turn, also for several sessions at once.
   *
   * The answer ends with an event `finish` or `error`; the host asks for no event after it. If the function throws, if
   * the stream ends without such an event, or if an event is invalid, the Provider Turn fails and the session goes on.
   * The host asks for the next event only while it keeps up with the earlier ones.
   *
   * @example
   * ```ts
   * async *stream({ messages }, { signal }) {
   *   for await (const text of answer(messages, signal)) yield { type: "text-delta", text }
   *   yield { type: "finish", reason: "stop" }
   * }
   * ```
   */
  stream(request: LanguageModelRequest, context: ModelContext): ModelStream | Promise<ModelStream>;
}

/** The events of an answer: an async generator, a `ReadableStream` or an array. */
export type ModelStream = AsyncIterable<ModelEvent> | Iterable<ModelEvent>;

/** The circumstances of a request. */
export interface ModelContext {
  /** Aborts when the answer is not needed any more: the session was interrupted, or the host closes. */
  readonly signal: AbortSignal;
  /** Writes a warning to the log of the host, for example about an option that the model ignores. */
  readonly warn: (message: string) => void;
}

/** A request to a model. */
export interface LanguageModelRequest {
  /** The model: its id, or `api.id` of its description. */
  readonly model: string;
  /** The conversation: the Baseline System Context first, then the Session History. */
  readonly messages: readonly ModelMessage[];
  /** The tools that the model may call. Absent if there are none. */
  readonly tools?: readonly ModelTool[];
  /** The choice of the tool. Absent if the model decides. */
  readonly toolChoice?: ModelToolChoice;
  /** The controls of the answer. Those that are not set are absent. */
  readonly generation: ModelGeneration;
  /** Model Request Options: all other options of the provider, the model, the variant and the agent. */
  readonly options: JsonObject;
  /** Configured headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same for all requests of one session. Providers group requests by it to find cached prefixes. */
  readonly cacheKey?: string;
}

/** A tool that a model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: JsonObject;
}

/** The tool that a model must call. */
export type ModelToolChoice =
  | { readonly type: "auto" }
  | { readonly type: "none" }
  | { readonly type: "required" }
  | { readonly type: "tool"; readonly name: string };

/** The controls of an answer. */
export interface ModelGeneration {
  /** Maximum number of output tokens. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  /** Texts that end the answer. */
  readonly stop?: readonly string[];
}

/** A message of a conversation. Later requests of a session repeat its messages unchanged, as long as it is not compacted. */
export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: readonly (ModelTextPart | ModelFilePart)[] }
  | {
      readonly role: "assistant";
      readonly content: readonly (ModelTextPart | ModelReasoningPart | ModelCallPart | ModelResultPart)[];
    }
  | { readonly role: "tool"; readonly content: readonly ModelResultPart[] };

/** Text. */
export interface ModelTextPart {
  readonly type: "text";
  readonly text: string;
  /** Data that the same model attached. */
  readonly providerMetadata?: ProviderMetadata;
}

/** A file that the model reads according to its `capabilities`. A text replaces any other file. */
export interface ModelFilePart {
  readonly type: "file";
  /** The MIME type. */
  readonly mediaType: string;
  /** The content as base64. */
  readonly data: string;
  readonly filename?: string;
}

/** Earlier reasoning of the model. */
export interface ModelReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  /** Data that the same model attached, such as a signature. */
  readonly providerMetadata?: ProviderMetadata;
}

/** An earlier tool call of the model. */
export interface ModelCallPart {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  /** True if the provider ran the call. */
  readonly providerExecuted: boolean;
  /** Data that the same model attached. */
  readonly providerMetadata?: ProviderMetadata;
}

/** The result of a tool call. In an assistant message it is the result of a call that the provider ran. */
export interface ModelResultPart {
  readonly type: "tool-result";
  /** The id of the call. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  readonly result: ModelToolResult;
  /** True if the provider ran the call. */
  readonly providerExecuted: boolean;
  /** Data that the same model attached. */
  readonly providerMetadata?: ProviderMetadata;
}

/** The content of a result. */
export type ModelToolResult =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "json"; readonly value: JsonValue }
  | { readonly type: "error"; readonly value: JsonValue }
  | { readonly type: "content"; readonly value: readonly (ModelTextPart | ModelFilePart)[] };

/**
 * The reason for the end of an answer. A call that the host must run makes `"stop"` `"tool-calls"`. `"error"` means that
 * the answer failed; the event `error` can also tell why. `"unknown"`: the provider gave no reason. Any other text is the
 * name that the provider gives to the end, such as `"end_turn"` or `"network_error"`: the host reads it as it reads the
 * names of its own protocols, and an unknown name that tells of no regular end means that the answer failed.
 */
export type ModelFinishReason =
  | "stop"
  | "length"
  | "tool-calls"
  | "content-filter"
  | "error"
  | "unknown"
  | (string & {});

/** Token counts of an answer. Those that are unknown are absent. */
export interface ModelUsage {
  /** All input, cached input included. */
  readonly inputTokens?: number | undefined;
  /** All output, reasoning included. */
  readonly outputTokens?: number | undefined;
  /** Input that the provider read from its cache. */
  readonly cacheReadTokens?: number | undefined;
  /** Input that the provider wrote to its cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** Output that is reasoning. */
  readonly reasoningTokens?: number | undefined;
  /** All tokens, as the provider adds them up. */
  readonly totalTokens?: number | undefined;
}

/** The kind of a failure. The host repeats requests that failed with `"rate-limit"` or `"overloaded"` without output. */
export type ModelErrorKind =
  | "auth"
  | "rate-limit"
  | "quota"
  | "overloaded"
  | "invalid-request"
  | "context-overflow"
  | "content-policy"
  | "output-length"
  | "transport"
  | "timeout"
  | "invalid-output"
  | "unknown";

/** The HTTP response with which a server refused a request. */
export interface ModelErrorResponse {
  readonly status: number;
  /** Its headers, for `retry-after` and the limits of the account. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Its body. Default: none. */
  readonly body?: string | undefined;
  /** The address of the request. Default: none. */
  readonly url?: string | undefined;
}

interface BlockEvent {
  /** The block, if several are open at once. Default: `"0"`. */
  readonly id?: string | undefined;
  /** Data that the model must get back with the block. The data of all events of a block is joined. */
  readonly providerMetadata?: ProviderMetadata | undefined;
}

interface CallEvent {
  /** The call. If another call of the answer has the same id, the host gives this one an id of its own. */
  readonly id: string;
  /** Data that the model must get back with the call. */
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/**
 * An event of an answer.
 *
 * Blocks of text and reasoning begin with their first event, and end with `finish` at the latest. A tool call needs
 * only the event `tool-call`; with the `tool-input` events before it, clients see its input while the model writes it.
 * `error` ends an answer that the provider refused or broke off: with the `response` of its server, else with a `kind`,
 * a `code` or only a message, from which the host derives the kind.
 */
export type ModelEvent =
  | ({ readonly type: "text-start" } & BlockEvent)
  | ({ readonly type: "text-delta"; readonly text: string } & BlockEvent)
  | ({ readonly type: "text-end" } & BlockEvent)
  | ({ readonly type: "reasoning-start" } & BlockEvent)
  | ({ readonly type: "reasoning-delta"; readonly text: string } & BlockEvent)
  | ({ readonly type: "reasoning-end" } & BlockEvent)
  | ({ readonly type: "tool-input-start"; readonly name: string } & CallEvent)
  | { readonly type: "tool-input-delta"; readonly id: string; readonly text: string }
  | ({ readonly type: "tool-input-end" } & CallEvent)
  | ({
      readonly type: "tool-call";
      /** The tool. It may be absent after `tool-input-start`. */
      readonly name?: string | undefined;
      /** The input. Default: `{}`. */
      readonly input?: JsonValue | undefined;
      /** The input as JSON text, instead of `input`. */
      readonly inputText?: string | undefined;
      /** True if the provider runs the call itself. Default: false. */
      readonly providerExecuted?: boolean | undefined;
    } & CallEvent)
  | ({ readonly type: "tool-result"; readonly result: ModelToolResult } & CallEvent)
  | {
      /** A file that the model returns. Later requests contain the path or the address of the file, and not its content. */
      readonly type: "file";
      /** The MIME type. */
      readonly mediaType: string;
      /** The content as base64, which the host stores. */
      readonly data?: string | undefined;
      /** The address of the file, `http` or `https`, instead of `data`. The host does not load it. */
      readonly url?: string | undefined;
      readonly providerMetadata?: ProviderMetadata | undefined;
    }
  | {
      /**
       * A source that the answer cites. The host leaves out pages with other addresses than those of the web, and
       * documents without an id, a title and a name.
       */
      readonly type: "source";
      readonly source: CitedSource;
    }
  | {
      readonly type: "finish";
      readonly reason: ModelFinishReason;
      readonly usage?: ModelUsage | undefined;
      readonly providerMetadata?: ProviderMetadata | undefined;
    }
  | {
      readonly type: "error";
      readonly message?: string | undefined;
      readonly kind?: ModelErrorKind | undefined;
      /** The code of the provider, such as `"overloaded_error"`. */
      readonly code?: string | undefined;
      readonly response?: ModelErrorResponse | undefined;
    };

/** Registers providers of models. docs/models.md describes them. */
export interface HostProviders {
  /**
   * Registers a provider, for all Locations or for one. Its models count from the next Provider Turn on. It replaces a
   * provider with the same id, until it is removed. Requests that run continue.
   *
   * @throws {InvalidOptionError} If a member of the provider or an option is wrong.
   * @example
   * ```ts
   * import { fromAISDK } from "opencode-embedded/ai-sdk"
   * import { google } from "@ai-sdk/google"
   *
   * opencode.providers.register(fromAISDK(google("gemini-2.5-flash")))
   * ```
   */
  register(provider: ModelProvider, options?: RegisterOptions): Registration;
}
