// Providers and their models in the configuration, in both forms.

import type { JsonValue } from "../index.js";

/** A model by name, `provider/model` or `provider/model#variant`, or by its parts. */
export type ModelSelection =
  | string
  | {
      /** The provider's id. */
      readonly providerID: string;
      /** The model's id. */
      readonly id: string;
      /** A variant of the model. Default: the model's own. */
      readonly variant?: string | undefined;
    };

/** Headers and options of every request. Options without a known meaning are copied into the body. */
export interface RequestConfig {
  /** HTTP headers, at most 100. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Options, such as `temperature`, `maxTokens` or `reasoningEffort`. */
  readonly body?: Readonly<Record<string, JsonValue | undefined>> | undefined;
}

/** The interface of a provider or a model. */
export interface ApiConfig {
  /** A package of the AI SDK, or a protocol by its name (`settings.protocol`). Default: `"aisdk"`. */
  readonly type?: "aisdk" | "native" | undefined;
  /**
   * `"@ai-sdk/openai-compatible"` is OpenAI Chat Completions, `"@ai-sdk/openai"` OpenAI Responses and
   * `"@ai-sdk/anthropic"` Anthropic Messages; models of other packages are refused.
   * Default: that of the provider if it is known, else `"@ai-sdk/openai-compatible"`.
   */
  readonly package?: string | undefined;
  /** The address, such as `"http://127.0.0.1:8080/v1"`. Default: the provider's own, if it is known. */
  readonly url?: string | undefined;
  /** Settings: `apiKey`; `includeUsage`; with type `"native"` the `protocol`. */
  readonly settings?: Readonly<Record<string, JsonValue | undefined>> | undefined;
}

/** A provider. A member that is left out keeps its value. */
export interface ProviderConfig {
  /** The name for people. Default: the id. */
  readonly name?: string | undefined;
  /** The interface of the provider. */
  readonly api?: ApiConfig | undefined;
  /** Headers and options of every request to it. */
  readonly request?: RequestConfig | undefined;
  /** Variables of the environment that may hold its key, at most 100. */
  readonly env?: readonly string[] | undefined;
  /** The only models of it that may be used. Default: all. */
  readonly whitelist?: readonly string[] | undefined;
  /** Models of it that may not be used. Default: none. */
  readonly blacklist?: readonly string[] | undefined;
  /** Its models, by id. */
  readonly models?: Readonly<Record<string, ModelConfig>> | undefined;
}

/** A model. A member that is left out keeps its value. */
export interface ModelConfig {
  /** The name for people. Default: the id. */
  readonly name?: string | undefined;
  /** The family that it belongs to. */
  readonly family?: string | undefined;
  /** The interface of the model, if it differs from that of its provider. `id` is its id at the provider. */
  readonly api?: (ApiConfig & { readonly id?: string | undefined }) | undefined;
  /** The capabilities of the model. */
  readonly capabilities?: ModelCapabilitiesConfig | undefined;
  /** Headers and options of every request, and the default variant. */
  readonly request?: (RequestConfig & { readonly variant?: string | undefined }) | undefined;
  /** Its variants, at most 100. */
  readonly variants?: readonly ModelVariantConfig[] | undefined;
  /** Its prices: one, or one for each size of context. Default: unknown. */
  readonly cost?: ModelCostConfig | readonly ModelCostConfig[] | undefined;
  /** True if it may not be used. Default: false. */
  readonly disabled?: boolean | undefined;
  /** Limits of input and output, in tokens. */
  readonly limit?: ModelLimitConfig | undefined;
}

/** The capabilities of a model. */
export interface ModelCapabilitiesConfig {
  /** True if it calls tools. Default: false if `capabilities` are given, else true. */
  readonly tools?: boolean | undefined;
  /** Kinds of input: `"text"`, `"image"`, `"audio"`, `"video"`, `"pdf"`. Default: unknown. */
  readonly input?: readonly string[] | undefined;
  /** Kinds of output. Default: unknown. */
  readonly output?: readonly string[] | undefined;
}

/** A variant of a model: headers and options that its requests have beside those of the model. */
export interface ModelVariantConfig extends RequestConfig {
  /** Its name. */
  readonly id: string;
}

/** From which size of context on prices hold. */
export interface PriceTierConfig {
  /** Tokens. */
  readonly size: number;
  /** The subject of the size. Default: `"context"`. */
  readonly type?: "context" | undefined;
}

/** Price of a million tokens, in US dollars. */
export interface ModelCostConfig {
  /** The context size, in tokens, above which these prices hold. Default: from the first token on. */
  readonly tier?: PriceTierConfig | undefined;
  /** Tokens of input. */
  readonly input: number;
  /** Tokens of output. */
  readonly output: number;
  /** Tokens that the provider has read before. Default: 0. */
  readonly cache?: { readonly read?: number | undefined; readonly write?: number | undefined } | undefined;
}

/** Tokens that a model takes and gives. */
export interface ModelLimitConfig {
  /** The whole context window. Default: unknown. */
  readonly context?: number | undefined;
  /** The part of it that input may use. Default: all. */
  readonly input?: number | undefined;
  /** The longest answer. Default: unknown. */
  readonly output?: number | undefined;
}

/** A provider in the older form. */
export interface OlderProviderConfig {
  /** It has no effect: the key under which a provider stands is its id. */
  readonly id?: string | undefined;
  /** The name for people. Default: the id. */
  readonly name?: string | undefined;
  /** The package that decides the protocol, as `ApiConfig.package`. */
  readonly npm?: string | undefined;
  /** The address. It holds over `options.baseURL`. */
  readonly api?: string | undefined;
  /** Address, key, headers, and options of every request. */
  readonly options?: OlderProviderOptionsConfig | undefined;
  /** Variables of the environment that may hold its key, at most 100. */
  readonly env?: readonly string[] | undefined;
  /** The only models of it that may be used. Default: all. */
  readonly whitelist?: readonly string[] | undefined;
  /** Models of it that may not be used. Default: none. */
  readonly blacklist?: readonly string[] | undefined;
  /** Its models, by id. */
  readonly models?: Readonly<Record<string, OlderModelConfig>> | undefined;
}

/** Options of a provider in the older form. Further ones are settings of its package. */
export interface OlderProviderOptionsConfig {
  /** The address, such as `"http://127.0.0.1:8080/v1"`. Default: the provider's own, if it is known. */
  readonly baseURL?: string | undefined;
  /** The key. Default: that of the provider's variable, such as `OPENAI_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** HTTP headers, at most 100. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Options that go into the body of requests. */
  readonly body?: Readonly<Record<string, JsonValue | undefined>> | undefined;
  readonly [option: string]: JsonValue | undefined;
}

/** A model in the older form. Entries of the list of models have it too. */
export interface OlderModelConfig extends ListedModelConfig {
  /** The name for people. Default: the id. */
  readonly name?: string | undefined;
  /** The family that it belongs to. */
  readonly family?: string | undefined;
  /** The id that the provider knows it by. Default: the key under which it stands. */
  readonly id?: string | undefined;
  /** The interface of the model, if it differs from that of its provider. */
  readonly provider?: { readonly npm?: string | undefined; readonly api?: string | undefined } | undefined;
  /** True if it calls tools. Default: true, unless `modalities` are given without it. */
  readonly tool_call?: boolean | undefined;
  /** Kinds of input and output. Default: unknown. */
  readonly modalities?:
    | { readonly input?: readonly string[] | undefined; readonly output?: readonly string[] | undefined }
    | undefined;
  /** True if it reasons. Default: false. */
  readonly reasoning?: boolean | undefined;
  /** Control of its reasoning: by words, or by a number of tokens. */
  readonly reasoning_options?: readonly OlderReasoningConfig[] | undefined;
  /** The field of the wire that holds its reasoning, where it has one of its own. */
  readonly interleaved?: boolean | string | { readonly field?: string | undefined } | undefined;
  /** Price of a million tokens, in US dollars. Default: unknown. */
  readonly cost?: OlderModelCostConfig | undefined;
  /** Release status. A deprecated model is not offered. Default: `"active"`. */
  readonly status?: "alpha" | "beta" | "deprecated" | "active" | undefined;
  /** Limits of input and output, in tokens. */
  readonly limit?: ModelLimitConfig | undefined;
  /** When it was released, such as `"2025-04-14"`. The newest model is the default one. */
  readonly release_date?: string | undefined;
  /** True if it may not be used. Default: false. */
  readonly disabled?: boolean | undefined;
  /** HTTP headers of its requests, at most 100. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Options of its requests. */
  readonly options?: Readonly<Record<string, JsonValue | undefined>> | undefined;
  /** Its variants, at most 100, by name: options, or `{ disabled: true }`. */
  readonly variants?: Readonly<Record<string, Readonly<Record<string, JsonValue | undefined>>>> | undefined;
}

/** Fields of the list of models that this version does not use. */
export interface ListedModelConfig {
  /** True if it accepts files. */
  readonly attachment?: boolean | undefined;
  /** Further modes of it. */
  readonly experimental?: JsonValue | undefined;
  /** Until when it knows the world, such as `"2024-06"`. */
  readonly knowledge?: string | undefined;
  /** When its description was changed. */
  readonly last_updated?: string | undefined;
  /** True if its weights are published. */
  readonly open_weights?: boolean | undefined;
  /** True if its output can be restricted to a schema. */
  readonly structured_output?: boolean | undefined;
  /** True if its temperature can be set. */
  readonly temperature?: boolean | undefined;
}

/** A way in which reasoning can be steered. */
export type OlderReasoningConfig =
  | { readonly type: "effort"; readonly values?: readonly (string | null)[] | undefined }
  | { readonly type: "budget_tokens"; readonly min?: number | undefined; readonly max?: number | undefined }
  | { readonly type: "toggle" };

/** Price of a million tokens, in US dollars. */
export interface OlderModelPriceConfig {
  /** Tokens of input. */
  readonly input: number;
  /** Tokens of output. */
  readonly output: number;
  /** Tokens that the provider has read before. Default: 0. */
  readonly cache_read?: number | undefined;
  /** Tokens that the provider keeps. Default: 0. */
  readonly cache_write?: number | undefined;
  /** Tokens of reasoning. This version does not use it. */
  readonly reasoning?: number | undefined;
  /** Tokens of audio input. This version does not use it. */
  readonly input_audio?: number | undefined;
  /** Tokens of audio output. This version does not use it. */
  readonly output_audio?: number | undefined;
}

/** Prices, and others for large contexts. */
export interface OlderModelCostConfig extends OlderModelPriceConfig {
  /** Prices above a context size, in tokens. */
  readonly tiers?: readonly (OlderModelPriceConfig & { readonly tier: PriceTierConfig })[] | undefined;
  /** Prices above 200,000 tokens of context. */
  readonly context_over_200k?: OlderModelPriceConfig | undefined;
}
