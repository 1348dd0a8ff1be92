// One implementation for both module systems, so that there is one copy of every class in a process.
import client from "./index.js";

export const { createClient, resumeEvents, ClientError, isClientError, isTagged } = client;
export * from "./generated/guards.mjs";
