// Turns the parts of a run into chunks of a message of the AI SDK.

import { answerID, partID, sourceParts, toolOutput } from "./ui-parts.js";
import type { RunEnd, RunPart, RunResult, RunTool, SessionDurableEvent } from "../index.js";
import type { OpenCodeMessageMetadata, OpenCodeUIMessageChunk } from "./ui-types.js";

type Chunk = OpenCodeUIMessageChunk;

/** The chunks of one run. */
export class ChunkWriter {
  #sessionID;
  #messageID;
  #after;
  /** The position of the newest event of the run. */
  #seq = -1;
  /** Number of blocks that are not complete. */
  #open = 0;

  /** @param after Chunks of events up to this position are omitted. */
  constructor(sessionID: string, messageID: string, after: number) {
    this.#sessionID = sessionID;
    this.#messageID = messageID;
    this.#after = after;
  }

  start(): Chunk {
    return { type: "start", messageId: answerID(this.#messageID), messageMetadata: this.#metadata({}) };
  }

  write(part: RunPart): Chunk[] {
    switch (part.type) {
      case "needs-input":
        return [
          part.kind === "permission"
            ? { type: "data-opencode-permission", id: part.request.id, data: part.request }
            : { type: "data-opencode-question", id: part.request.id, data: part.request },
        ];
      case "end":
        return this.#end(part);
      case "event":
        return this.#event(part.event);
      default:
        // The parts of an event come before the event itself.
        return this.#seq < this.#after ? [] : writeContent(part);
    }
  }

  #event(event: SessionDurableEvent): Chunk[] {
    this.#seq = event.durable.seq;
    const chunks = this.#boundary(event);
    if (this.#seq <= this.#after) return [];
    const isSafe = this.#open === 0 && chunks.length > 0;
    const position: Chunk = { type: "message-metadata", messageMetadata: this.#metadata({ after: this.#seq }) };
    return isSafe ? [...chunks, position] : chunks;
  }

  /** The chunks of the beginning or the end of a block or a turn. */
  #boundary({ type, data, metadata }: SessionDurableEvent): Chunk[] {
    switch (type) {
      case "session.next.step.started":
        return [{ type: "start-step" }];
      case "session.next.step.ended":
      case "session.next.step.failed":
        return [...sourceParts(data.assistantMessageID, { metadata }), { type: "finish-step" }];
      case "session.next.text.started":
        this.#open += 1;
        return [{ type: "text-start", id: partID(data.assistantMessageID, data.textID) }];
      case "session.next.text.ended":
        this.#open -= 1;
        return [{ type: "text-end", id: partID(data.assistantMessageID, data.textID) }];
      case "session.next.reasoning.started":
        this.#open += 1;
        return [{ type: "reasoning-start", id: partID(data.assistantMessageID, data.reasoningID) }];
      case "session.next.reasoning.ended":
        this.#open -= 1;
        return [{ type: "reasoning-end", id: partID(data.assistantMessageID, data.reasoningID) }];
      default:
        return [];
    }
  }

  #end({ result }: RunEnd): Chunk[] {
    const { outcome, finish, usage, cost, error, reason = outcome } = result;
    const after = this.#seq < 0 ? {} : { after: this.#seq };
    const messageMetadata = this.#metadata({ ...after, outcome, usage, cost });
    if (outcome === "completed") return [{ type: "finish", finishReason: "stop", messageMetadata }];
    if (outcome === "incomplete") {
      const finishReason = finish === "content-filter" ? finish : "length";
      return [{ type: "finish", finishReason, messageMetadata }];
    }
    if (outcome === "declined" || outcome === "step-limit" || outcome === "paused") {
      return [{ type: "finish", finishReason: "other", messageMetadata }];
    }
    const metadata: Chunk = { type: "message-metadata", messageMetadata };
    if (outcome === "interrupted") return [metadata, { type: "abort", reason }];
    return [metadata, { type: "error", errorText: error?.message ?? reason }];
  }

  #metadata(
    more: Pick<Partial<RunResult>, "outcome" | "usage" | "cost"> & { after?: number },
  ): OpenCodeMessageMetadata {
    return { opencode: { sessionID: this.#sessionID, messageID: this.#messageID, ...more } };
  }
}

function writeContent(part: Exclude<RunPart, { type: "needs-input" | "end" | "event" }>): Chunk[] {
  switch (part.type) {
    case "text":
      return [{ type: "text-delta", id: partID(part.messageID, part.textID), delta: part.text }];
    case "reasoning":
      return [{ type: "reasoning-delta", id: partID(part.messageID, part.reasoningID), delta: part.text }];
    case "tool":
      return writeTool(part);
  }
}

function writeTool(part: RunTool): Chunk[] {
  const tool = { toolCallId: partID(part.messageID, part.callID), dynamic: true } as const;
  const output = toolOutput(part.structured, part.output ?? "");
  switch (part.status) {
    case "pending":
      return [{ type: "tool-input-start", toolName: part.tool, ...tool }];
    case "running":
      return part.input === undefined
        ? [{ type: "tool-output-available", output, preliminary: true, ...tool }]
        : [{ type: "tool-input-available", toolName: part.tool, input: part.input, ...tool }];
    case "completed":
      return [{ type: "tool-output-available", output, ...tool }];
    case "failed":
      return [{ type: "tool-output-error", errorText: part.error?.message ?? "The call failed", ...tool }];
  }
}
