// The parts of `UIMessage` and `UIMessageChunk` of the AI SDK that the host uses. They are declared here, so that the
// package needs no version of the AI SDK.

import type { PermissionRequest, QuestionRequest, RunOutcome, RunUsage } from "../index.js";

/** The metadata of messages that the host makes, under `metadata.opencode`. */
export interface OpenCodeMessageMetadata {
  readonly opencode: {
    readonly sessionID: string;
    /** The prompt. */
    readonly messageID: string;
    /**
     * A position in the log of the session. All content of the message before it is complete, so `toUIMessageStream` can
     * continue the message from there.
     */
    readonly after?: number;
    /** The outcome of the run, after its end. */
    readonly outcome?: RunOutcome;
    /** Tokens of all turns, after the end of the run. */
    readonly usage?: RunUsage;
    /** Cost of all turns, after the end of the run. */
    readonly cost?: number;
  };
}

/** The data parts of messages that the host makes. */
export type OpenCodeDataParts = {
  /** A permission that the user must give: answer with `permissions.reply`. */
  "opencode-permission": PermissionRequest;
  /** A question to the user: answer with `questions.reply` or `questions.reject`. */
  "opencode-question": QuestionRequest;
};

/** A part of a message of the AI SDK. Tool calls are `dynamic-tool` parts. */
export type OpenCodeUIMessagePart =
  | { type: "text"; text: string; state?: "streaming" | "done" }
  | { type: "reasoning"; text: string; state?: "streaming" | "done" }
  | { type: "file"; mediaType: string; url: string; filename?: string }
  | SourcePart
  | { type: "step-start" }
  | { type: "dynamic-tool"; toolName: string; toolCallId: string; state: "input-streaming"; input: unknown }
  | { type: "dynamic-tool"; toolName: string; toolCallId: string; state: "input-available"; input: unknown }
  | {
      type: "dynamic-tool";
      toolName: string;
      toolCallId: string;
      state: "output-available";
      input: unknown;
      output: unknown;
    }
  | {
      type: "dynamic-tool";
      toolName: string;
      toolCallId: string;
      state: "output-error";
      input: unknown;
      errorText: string;
    };

/** A source that an answer cites, as a part of a message and as a chunk. */
export type SourcePart =
  | { type: "source-url"; sourceId: string; url: string; title?: string }
  | { type: "source-document"; sourceId: string; mediaType: string; title: string; filename?: string };

/** A message of the AI SDK (`UIMessage`). */
export interface OpenCodeUIMessage {
  id: string;
  role: "user" | "assistant";
  metadata?: OpenCodeMessageMetadata;
  parts: OpenCodeUIMessagePart[];
}

type ToolChunk = { toolCallId: string; dynamic: true };

/** A chunk of a stream of a message of the AI SDK (`UIMessageChunk`). */
export type OpenCodeUIMessageChunk =
  | { type: "start"; messageId: string; messageMetadata: OpenCodeMessageMetadata }
  | { type: "start-step" }
  | { type: "finish-step" }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string }
  | { type: "reasoning-start"; id: string }
  | { type: "reasoning-delta"; id: string; delta: string }
  | { type: "reasoning-end"; id: string }
  | ({ type: "tool-input-start"; toolName: string } & ToolChunk)
  | ({ type: "tool-input-available"; toolName: string; input: unknown } & ToolChunk)
  | ({ type: "tool-output-available"; output: unknown; preliminary?: boolean } & ToolChunk)
  | ({ type: "tool-output-error"; errorText: string } & ToolChunk)
  | SourcePart
  | { type: "data-opencode-permission"; id: string; data: PermissionRequest }
  | { type: "data-opencode-question"; id: string; data: QuestionRequest }
  | { type: "message-metadata"; messageMetadata: OpenCodeMessageMetadata }
  | {
      type: "finish";
      finishReason: "stop" | "length" | "content-filter" | "other";
      messageMetadata: OpenCodeMessageMetadata;
    }
  | { type: "abort"; reason?: string }
  | { type: "error"; errorText: string };
