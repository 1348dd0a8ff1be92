// One implementation for both module systems, so that there is one copy of every class in a process.
export { fromAISDK, toUIMessages, toUIMessageStream } from "./index.js";
export type * from "./index.js";
