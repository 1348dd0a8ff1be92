// The entry point `opencode-embedded/ai-sdk`.

export { fromAISDK } from "./from-ai-sdk.js";
export type { FromAISDKOptions } from "./from-ai-sdk.js";
export type { AISDKLanguageModel, AISDKProvider } from "./language-model.js";
