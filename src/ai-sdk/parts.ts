// Reads the stream of a model of the AI SDK as events of the host.

import { describeReported } from "./failures.js";
import { readUsage } from "./usage.js";
import type { JsonValue, ModelEvent, ModelFinishReason, ModelToolResult } from "../index.js";
import type { StreamPart, StreamSource } from "./language-model.js";

/** The finish reasons that the host knows under the same name. */
const REASONS = new Set(["stop", "length", "tool-calls", "content-filter"]);

/**
 * Reads one stream. Parts that the host has no use for give no events: metadata, raw chunks, and drafts of files among the
 * reasoning.
 */
export class PartReader {
  /** The calls whose input is being written. */
  #inputs: Set<string> = new Set();

  /** Returns the events of a part. */
  read(part: StreamPart): ModelEvent[] {
    switch (part.type) {
      case "text-end":
        return [
          { type: part.type, ...block(part) },
          ...(part.citations ?? []).flatMap(({ source }) => readSource(source)),
        ];
      case "text-start":
      case "reasoning-start":
      case "reasoning-end":
        return [{ type: part.type, ...block(part) }];
      case "text-delta":
      case "reasoning-delta":
        return [{ type: part.type, ...block(part), text: part.delta as string }];
      case "tool-input-start":
        this.#inputs.add(part.id as string);
        return [{ type: part.type, ...call(part, part.id), name: part.toolName as string }];
      case "tool-input-delta":
        return [{ type: part.type, id: part.id as string, text: part.delta as string }];
      case "tool-input-end":
        return this.#endInput(part.id as string, part);
      case "tool-call":
        return this.#readCall(part);
      case "tool-result":
        return part.preliminary === true ? [] : [result(part, readResult(part))];
      case "tool-approval-request":
        return [result(part, { type: "error", value: "The host cannot approve calls that the provider runs" })];
      case "file":
        return readFile(part);
      case "source":
        return readSource(part);
      case "finish":
        return [readFinish(part)];
      case "error":
        return [describeReported(part.error)];
      default:
        return [];
    }
  }

  #endInput(id: string, part: StreamPart): ModelEvent[] {
    return this.#inputs.delete(id) ? [{ type: "tool-input-end", ...call(part, id) }] : [];
  }

  /** Not every provider ends the input before the call. */
  #readCall(part: StreamPart): ModelEvent[] {
    const { toolCallId, toolName, input, providerExecuted = false } = part;
    return [
      ...this.#endInput(toolCallId as string, {} as StreamPart),
      {
        type: "tool-call",
        ...call(part, toolCallId),
        name: toolName,
        ...(typeof input === "string" ? { inputText: input } : { input: input as JsonValue | undefined }),
        providerExecuted,
      },
    ];
  }
}

// The members of a part are passed on as they are: the host checks them, and names those that are wrong.

function block({ id, providerMetadata }: StreamPart) {
  return { id, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
}

function call({ providerMetadata }: StreamPart, id: string | undefined) {
  return { id: id as string, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
}

function result(part: StreamPart, value: ModelToolResult): ModelEvent {
  return { type: "tool-result", ...call(part, part.toolCallId), result: value };
}

/** The content of a file, or its address. */
interface FileContent {
  readonly data?: string | Uint8Array | undefined;
  readonly url?: string | URL | undefined;
}

function readFile({ mediaType, data: given, providerMetadata }: StreamPart): ModelEvent[] {
  const content: FileContent = typeof given === "object" && !(given instanceof Uint8Array) ? given : { data: given };
  const { data, url } = content;
  if (data === undefined && url === undefined) return [];
  return [
    {
      type: "file",
      mediaType: mediaType as string,
      ...(data === undefined ? { url: String(url) } : { data: encodeBytes(data) }),
      ...(providerMetadata === undefined ? {} : { providerMetadata }),
    },
  ];
}

function encodeBytes(data: string | Uint8Array) {
  return typeof data === "string" ? data : Buffer.from(data).toString("base64");
}

function readSource(source: StreamSource = {}): ModelEvent[] {
  const { sourceType, url, title, filename, mediaType } = source;
  if (sourceType === "url") return [{ type: "source", source: { type: "url", url: url as string, title } }];
  return sourceType === "document"
    ? [{ type: "source", source: { type: "document", title, filename, mediaType } }]
    : [];
}

function readResult({ result: value = null, isError }: StreamPart): ModelToolResult {
  if (isError === true) return { type: "error", value };
  return typeof value === "string" ? { type: "text", value } : { type: "json", value };
}

function readFinish({ finishReason, usage, providerMetadata }: StreamPart): ModelEvent {
  return { type: "finish", reason: readReason(finishReason), usage: readUsage(usage, providerMetadata) };
}

/** The host reads the name of the provider, where the AI SDK has no word for it. */
function readReason(finishReason: StreamPart["finishReason"]): ModelFinishReason {
  if (typeof finishReason === "string") return finishReason;
  const { unified = "other", raw } = finishReason ?? {};
  if (REASONS.has(unified)) return unified;
  // Without a name, `other` is the reason of a stream that gave none.
  if (unified === "other") return raw ?? "unknown";
  return raw === undefined ? unified : `${unified}: ${raw}`;
}
