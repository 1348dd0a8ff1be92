// `fromAISDK`: models of the AI SDK as a provider of the host.

import { describeThrown } from "./failures.js";
import { PartReader } from "./parts.js";
import { writeCall } from "./prompt.js";
import { Warnings } from "./warnings.js";
import type { LanguageModelRequest, ModelContext, ModelEvent, ModelProvider, ProviderModel } from "../index.js";
import type { AISDKLanguageModel, AISDKProvider, StreamPart } from "./language-model.js";
import type { Target } from "./prompt.js";

/** Settings of a provider from the AI SDK. */
export interface FromAISDKOptions {
  /** The id of the provider. Default: the beginning of `model.provider`, such as `"openai"`. A provider needs it. */
  readonly id?: string | undefined;
  /** The name for people. Default: the id. */
  readonly name?: string | undefined;
  /**
   * The models by their id at the provider, with what the host knows about them. Without `limit.context` the host does
   * not compact sessions before a request is refused. Default: the given model, with `{}`. A provider needs it.
   */
  readonly models?: Readonly<Record<string, ProviderModel>> | undefined;
  /**
   * The namespace of the provider in `providerOptions`, under which the options of model, variant and agent are passed.
   * Default: the beginning of `model.provider`.
   */
  readonly namespace?: string | undefined;
}

/** Namespaces that are not the beginning of `model.provider`. */
const NAMESPACES: Readonly<Record<string, string>> = { "amazon-bedrock": "bedrock" };

/**
 * Returns a provider for `providers.register` from a model or a provider of the AI SDK (V2, V3 or V4).
 *
 * @throws {TypeError} If the argument is not a model or a provider, or if a provider has no `id` or no `models`.
 * @example
 * ```ts
 * import { google } from "@ai-sdk/google"
 *
 * opencode.providers.register(fromAISDK(google("gemini-2.5-flash")))
 * opencode.providers.register(fromAISDK(google, { id: "google", models: { "gemini-2.5-pro": {} } }))
 * ```
 */
export function fromAISDK(source: AISDKLanguageModel | AISDKProvider, options: FromAISDKOptions = {}): ModelProvider {
  const given: unknown = source;
  const find = isModel(given) ? () => given : readProvider(given, options);
  const warnings = new Warnings();
  const { id = providerOf(find("")), models = { [find("").modelId]: {} }, name, namespace } = options;
  return {
    id,
    models,
    ...(name === undefined ? {} : { name }),
    stream: (request, context) => stream(find(request.model), request, namespace, { ...context, warnings }),
  };
}

function readProvider(given: unknown, { id, models }: FromAISDKOptions) {
  if (!isProvider(given)) {
    throw new TypeError(
      "fromAISDK takes a model of the AI SDK (V2, V3 or V4), such as openai('gpt-4.1-mini'), or a provider",
    );
  }
  if (id === undefined || models === undefined) {
    throw new TypeError("fromAISDK needs the options id and models for a provider");
  }
  return (model: string) => given.languageModel(model);
}

async function* stream(
  model: AISDKLanguageModel,
  request: LanguageModelRequest,
  namespace: string | undefined,
  { signal, warn, warnings }: ModelContext & { warnings: Warnings },
): AsyncGenerator<ModelEvent> {
  const target: Target = { version: model.specificationVersion, namespace: namespace ?? namespaceOf(model) };
  let reader: ReadableStreamDefaultReader<unknown> | undefined;
  try {
    const answer = await model.doStream(writeCall(request, target, signal) as never);
    reader = answer.stream.getReader();
    const parts = new PartReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const part = value as StreamPart;
      if (part.type === "stream-start") for (const text of warnings.read(part.warnings)) warn(text);
      yield* parts.read(part);
    }
  } catch (error) {
    const event = describeThrown(error);
    if (event === undefined) throw error;
    yield event;
  } finally {
    // The consumer may stop in the middle. A failure of the cancellation changes nothing.
    reader?.cancel().catch(() => {});
  }
}

function providerOf({ provider }: AISDKLanguageModel) {
  return provider.split(".", 1)[0] ?? provider;
}

function namespaceOf(model: AISDKLanguageModel) {
  const provider = providerOf(model);
  return NAMESPACES[provider] ?? provider;
}

function isModel(value: unknown): value is AISDKLanguageModel {
  if (typeof value !== "object" || value === null) return false;
  const { specificationVersion, doStream } = value as Partial<AISDKLanguageModel>;
  return typeof doStream === "function" && ["v2", "v3", "v4"].includes(String(specificationVersion));
}

/** Providers are functions with members, or objects. */
function isProvider(value: unknown): value is AISDKProvider {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  return typeof (value as Partial<AISDKProvider>).languageModel === "function";
}
