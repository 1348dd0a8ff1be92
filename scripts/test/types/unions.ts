// Unions: `type` distinguishes the variants, and the compiler reports a missing one.

import type { AssistantPart, OpenCodeEvent, SessionDurableEvent, SessionMessage } from "opencode-embedded/client";
import { holds, impossible, type Same } from "./assert.js";

type Of<Union extends { readonly type: string }, Type extends Union["type"]> = Extract<Union, { readonly type: Type }>;

// Every type is a literal. A variant with any text as its type would make the union useless.
holds<Same<string extends OpenCodeEvent["type"] ? true : false, false>>();
holds<Same<string extends SessionDurableEvent["type"] ? true : false, false>>();
holds<Same<string extends SessionMessage["type"] ? true : false, false>>();
// All durable events are also live events.
holds<Same<Exclude<SessionDurableEvent["type"], OpenCodeEvent["type"]>, never>>();
holds<Same<SessionDurableEvent["durable"]["seq"], number>>();
holds<Same<Of<OpenCodeEvent, "session.next.text.delta">["data"]["delta"], string>>();

export function describeEvent(event: OpenCodeEvent): string {
  if (event.type === "session.next.text.ended") return event.data.text;
  if (event.type === "session.next.tool.success") return `${event.data.content.length} ${event.durable.seq}`;
  if (event.type === "session.next.step.failed") return event.data.error.message;
  if (event.type === "session.error") return event.data.error.name;
  // @ts-expect-error: unknown event
  if (event.type === "session.next.text.begun") return "";
  // @ts-expect-error: not every event has a text
  return event.data.text;
}

export function textOf(message: SessionMessage): string {
  switch (message.type) {
    case "user":
    case "synthetic":
    case "system":
      return message.text;
    case "assistant":
      return message.content.map(describePart).join("\n");
    case "shell":
      return `${message.command} ${message.output}`;
    case "compaction":
      return message.summary;
    case "agent-switched":
      return message.agent;
    case "model-switched":
      return message.model.id;
    default:
      return impossible(message);
  }
}

export function describePart(part: AssistantPart): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool":
      return part.state.status === "error" ? part.state.error.message : `${part.name} ${part.state.status}`;
    default:
      return impossible(part);
  }
}

export function isForgotten(message: SessionMessage): boolean {
  if (message.type === "user") return false;
  // @ts-expect-error: seven variants are left
  return impossible(message);
}
