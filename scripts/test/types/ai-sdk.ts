// The entry `opencode-embedded/ai-sdk`: models of the AI SDK in a host, and runs and sessions as its messages.

import type { ModelProvider, OpenCodeHost, Registration } from "opencode-embedded";
import { fromAISDK, toUIMessages, toUIMessageStream } from "opencode-embedded/ai-sdk";
import type { AISDKLanguageModel, OpenCodeUIMessage, OpenCodeUIMessageChunk } from "opencode-embedded/ai-sdk";
import type { OpenCodeClient } from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

holds<Same<ReturnType<typeof fromAISDK>, ModelProvider>>();

export const register = (host: OpenCodeHost, model: AISDKLanguageModel): Registration =>
  host.providers.register(fromAISDK(model, { id: "own", models: { small: {} } }));

// @ts-expect-error: the id of a model is not a model
fromAISDK("openai/gpt-4.1-mini");

export async function show(opencode: OpenCodeClient, sessionID: string): Promise<OpenCodeUIMessage[]> {
  const chunks = toUIMessageStream(opencode.sessions.run({ sessionID, prompt: "Hi" }), { after: 1 });
  holds<Same<typeof chunks, ReadableStream<OpenCodeUIMessageChunk>>>();
  const { items } = await opencode.sessions.messages({ sessionID, order: "asc" });
  // @ts-expect-error: a page is not its items
  toUIMessages({ items });
  return toUIMessages(items);
}
