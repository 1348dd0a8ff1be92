// Writes a request of the host as the options of `doStream`.

import type {
  JsonObject,
  LanguageModelRequest,
  ModelFilePart,
  ModelMessage,
  ModelResultPart,
  ModelTextPart,
} from "../index.js";
import type { AISDKLanguageModel, CallOptions, PromptMessage, ProviderOptions } from "./language-model.js";

type Version = AISDKLanguageModel["specificationVersion"];
type Part = Exclude<ModelMessage, { role: "system" }>["content"][number];

/** The model as far as its requests depend on it. */
export interface Target {
  readonly version: Version;
  /** The namespace of its provider options. */
  readonly namespace: string;
}

/** Returns the options of `doStream`. */
export function writeCall(request: LanguageModelRequest, target: Target, abortSignal: AbortSignal): CallOptions {
  const { generation } = request;
  const { reasoning, cache, ...options } = request.options;
  const isSeparate = target.version === "v4" && reasoning !== undefined;
  const prompt = request.messages.map((message) => writeMessage(message, target));
  if (cache !== false && cache !== "none") markCacheable(prompt, target.namespace);
  return {
    prompt,
    maxOutputTokens: generation.maxTokens,
    temperature: generation.temperature,
    topP: generation.topP,
    topK: generation.topK,
    frequencyPenalty: generation.frequencyPenalty,
    presencePenalty: generation.presencePenalty,
    seed: generation.seed,
    stopSequences: generation.stop === undefined ? undefined : [...generation.stop],
    tools: request.tools?.map((tool) => ({ type: "function", ...tool })),
    toolChoice: writeToolChoice(request),
    headers: { ...request.headers },
    providerOptions: {
      [target.namespace]: {
        ...groupingKey(request, target.namespace),
        ...options,
        ...(isSeparate || reasoning === undefined ? {} : { reasoning }),
      },
    },
    ...(isSeparate ? { reasoning } : {}),
    includeRawChunks: false,
    abortSignal,
  };
}

function writeToolChoice({ toolChoice }: LanguageModelRequest): CallOptions["toolChoice"] {
  return toolChoice?.type === "tool" ? { type: "tool", toolName: toolChoice.name } : toolChoice;
}

/** OpenAI finds the cached prefix of a conversation by this key. */
function groupingKey({ cacheKey }: LanguageModelRequest, namespace: string): JsonObject {
  return namespace === "openai" && cacheKey !== undefined ? { promptCacheKey: cacheKey } : {};
}

function writeMessage(message: ModelMessage, target: Target): PromptMessage {
  const { role, content } = message;
  return { role, content: role === "system" ? content : content.map((part) => writePart(part, target)) };
}

function writePart(part: Part, { version, namespace }: Target) {
  const providerOptions =
    "providerMetadata" in part && part.providerMetadata !== undefined ? { providerOptions: part.providerMetadata } : {};
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, ...providerOptions };
    case "file":
      return writeFile(part, version);
    case "tool-call": {
      const { id, name: toolName, input, providerExecuted } = part;
      return {
        type: part.type,
        toolCallId: callID(id, namespace),
        toolName,
        input,
        providerExecuted,
        ...providerOptions,
      };
    }
    case "tool-result": {
      const { id, name: toolName } = part;
      return {
        type: part.type,
        toolCallId: callID(id, namespace),
        toolName,
        output: writeOutput(part, version),
        ...providerOptions,
      };
    }
  }
}

/** Anthropic refuses some ids that other providers choose. */
function callID(id: string, namespace: string) {
  return namespace === "anthropic" ? id.replaceAll(/[^a-zA-Z0-9_-]/g, "_") : id;
}

function writeFile({ mediaType, data, filename }: ModelFilePart, version: Version) {
  const name = filename === undefined ? {} : { filename };
  return { type: "file", mediaType, data: version === "v4" ? { type: "data", data } : data, ...name };
}

function writeOutput({ result }: ModelResultPart, version: Version) {
  switch (result.type) {
    case "text":
    case "json":
      return result;
    case "error":
      return { type: typeof result.value === "string" ? "error-text" : "error-json", value: result.value };
    case "content":
      return { type: "content", value: result.value.map((piece) => writePiece(piece, version)) };
  }
}

function writePiece(piece: ModelTextPart | ModelFilePart, version: Version) {
  if (piece.type === "text") return { type: "text", text: piece.text };
  const { mediaType, data, filename } = piece;
  if (version === "v4") return writeFile(piece, version);
  if (version === "v2") return { type: "media", mediaType, data };
  if (mediaType.startsWith("image/")) return { type: "image-data", mediaType, data };
  return { type: "file-data", mediaType, data, ...(filename === undefined ? {} : { filename }) };
}

/** The options with which providers cache a prompt up to a message. */
const CACHE_POINTS: Readonly<Record<string, ProviderOptions>> = {
  anthropic: { anthropic: { cacheControl: { type: "ephemeral" } } },
  bedrock: { bedrock: { cachePoint: { type: "default" } } },
};

/** Marks the Baseline System Context, the last message, and the message at which the previous request ended. */
function markCacheable(prompt: PromptMessage[], namespace: string) {
  const point = CACHE_POINTS[namespace];
  if (point === undefined) return;
  const [first] = prompt;
  const lastAnswer = prompt.findLastIndex(({ role }) => role === "assistant");
  const marked = [first?.role === "system" ? first : undefined, prompt[lastAnswer - 1], prompt.at(-1)];
  for (const message of marked) {
    if (message !== undefined) message.providerOptions = point;
  }
}
