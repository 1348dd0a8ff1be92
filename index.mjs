// One implementation for both module systems, so that there is one copy of every class in a process.
import facade from "./index.js";

export const { OpenCode, unavailable } = facade;
export * from "./dist/client/index.mjs";
