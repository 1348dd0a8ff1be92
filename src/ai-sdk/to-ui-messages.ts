// `toUIMessages`: the messages of a session as messages of the AI SDK.

import { answerID, partID, sourceParts, toolOutput } from "./ui-parts.js";
import type { AssistantPart, SessionMessage, ToolContent } from "../index.js";
import type { OpenCodeUIMessage, OpenCodeUIMessagePart } from "./ui-types.js";

type AssistantMessage = Extract<SessionMessage, { type: "assistant" }>;
type UserMessage = Extract<SessionMessage, { type: "user" }>;

/**
 * Returns messages of a session, oldest first, as messages of the AI SDK: each prompt, and one message for the turns
 * that answer it. Their ids are those of `toUIMessageStream`.
 *
 * Omit the turns of a prompt whose run `useChat` resumes: its stream contains the whole message.
 *
 * @example
 * ```ts
 * const { items } = await opencode.sessions.messages({ sessionID, order: "asc", limit: 100 })
 * const initialMessages = toUIMessages(items)
 * ```
 */
export function toUIMessages(messages: Iterable<SessionMessage>): OpenCodeUIMessage[] {
  const shown: OpenCodeUIMessage[] = [];
  let prompt: string | undefined;
  for (const message of messages) {
    if (message.type === "user") {
      prompt = message.id;
      shown.push({ id: message.id, role: "user", parts: writePrompt(message) });
    } else if (message.type === "assistant") {
      const last = shown.at(-1);
      const parts: OpenCodeUIMessagePart[] = [
        { type: "step-start" },
        ...message.content.flatMap(partsOf(message)),
        ...sourceParts(message.id, message),
      ];
      if (last?.role === "assistant") last.parts.push(...parts);
      else shown.push({ id: answerID(prompt ?? message.id), role: "assistant", parts });
    }
  }
  return shown;
}

function writePrompt({ text, files = [] }: UserMessage): OpenCodeUIMessagePart[] {
  const attached = files.map(({ uri: url, mime: mediaType, name }): OpenCodeUIMessagePart => {
    return { type: "file", mediaType, url, ...(name === undefined ? {} : { filename: name }) };
  });
  return [{ type: "text", text, state: "done" }, ...attached];
}

function partsOf({ id, time }: AssistantMessage) {
  const state = time.completed === undefined ? "streaming" : "done";
  return (part: AssistantPart): OpenCodeUIMessagePart[] => {
    if (part.type !== "tool") return [{ type: part.type, text: part.text, state }];
    const tool = { type: "dynamic-tool", toolName: part.name, toolCallId: partID(id, part.id) } as const;
    const { state: call } = part;
    switch (call.status) {
      case "pending":
        return [{ ...tool, state: "input-streaming", input: undefined }];
      case "running":
        return [{ ...tool, state: "input-available", input: call.input }];
      case "completed": {
        const output = toolOutput(call.structured, textOf(call.content));
        return [{ ...tool, state: "output-available", input: call.input, output }];
      }
      case "error":
        return [{ ...tool, state: "output-error", input: call.input, errorText: call.error.message }];
    }
  };
}

function textOf(content: readonly ToolContent[]) {
  return content.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n");
}
