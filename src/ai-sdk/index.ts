// The entry point `opencode-embedded/ai-sdk`.

export { fromAISDK } from "./from-ai-sdk.js";
export { toUIMessages } from "./to-ui-messages.js";
export { toUIMessageStream } from "./to-ui-message-stream.js";
export type { FromAISDKOptions } from "./from-ai-sdk.js";
export type { AISDKLanguageModel, AISDKProvider } from "./language-model.js";
export type { ToUIMessageStreamOptions } from "./to-ui-message-stream.js";
export type {
  OpenCodeDataParts,
  OpenCodeMessageMetadata,
  OpenCodeUIMessage,
  OpenCodeUIMessageChunk,
  OpenCodeUIMessagePart,
} from "./ui-types.js";
