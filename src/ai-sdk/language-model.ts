// The interface of models of the AI SDK, in its versions V2, V3 and V4. It is declared here, so that the package works
// with every version of the AI SDK and needs none.

import type { JsonObject, JsonValue, ModelToolChoice } from "../index.js";

/** A model of the AI SDK (`LanguageModelV2`, `LanguageModelV3` or `LanguageModelV4`). */
export interface AISDKLanguageModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  /** The provider, such as `"openai.responses"`. */
  readonly provider: string;
  readonly modelId: string;
  /** Starts an answer. Its options differ between the versions. */
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** A provider of the AI SDK (`ProviderV2`, `ProviderV3` or `ProviderV4`). */
export interface AISDKProvider {
  /** Returns a model by its id. */
  languageModel(modelId: string): AISDKLanguageModel;
}

/** Options by the namespace of their provider. */
export type ProviderOptions = Record<string, JsonObject>;

interface WithOptions {
  providerOptions?: ProviderOptions;
}

/** A message of a prompt. */
export type PromptMessage = WithOptions & { role: "system" | "user" | "assistant" | "tool"; content: unknown };

/** The options of `doStream`. */
export interface CallOptions {
  prompt: PromptMessage[];
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  frequencyPenalty?: number | undefined;
  presencePenalty?: number | undefined;
  seed?: number | undefined;
  stopSequences?: string[] | undefined;
  tools?: { type: "function"; name: string; description: string; inputSchema: JsonObject }[] | undefined;
  toolChoice?: Exclude<ModelToolChoice, { type: "tool" }> | { type: "tool"; toolName: string } | undefined;
  headers: Record<string, string>;
  providerOptions: ProviderOptions;
  /** Only V4. */
  reasoning?: JsonValue | undefined;
  includeRawChunks: false;
  abortSignal: AbortSignal;
}

/** A source of an answer, as a part of a stream and in a citation. */
export interface StreamSource {
  readonly sourceType?: string;
  readonly url?: string;
  readonly title?: string;
  readonly filename?: string;
  readonly mediaType?: string;
}

/** A part of a stream: the members that some version has. */
export interface StreamPart extends StreamSource {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  /** The citations of a complete text, since version 4. */
  readonly citations?: readonly { readonly source?: StreamSource }[];
  /** The content of a file: base64 or bytes, since version 4 in an object that can also have an address. */
  readonly data?: string | Uint8Array | { readonly data?: string | Uint8Array; readonly url?: string | URL };
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly result?: JsonValue;
  readonly isError?: boolean;
  readonly preliminary?: boolean;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Readonly<Record<string, JsonValue>>;
  readonly finishReason?: string | { readonly unified?: string; readonly raw?: string | undefined };
  readonly usage?: unknown;
  readonly error?: unknown;
  readonly warnings?: readonly unknown[];
}
