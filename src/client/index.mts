// One implementation for both module systems, so that there is one copy of every class in a process.
export { createClient, citedSources, resumeEvents, ClientError, isClientError, isTagged } from "./index.js";
export * from "./generated/guards.mjs";
export type * from "./index.js";
