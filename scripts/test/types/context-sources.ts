// Context Sources: the types that flow from the value to the texts.

import { unavailable } from "opencode-embedded";
import type { OpenCodeHost, Registration, StandardSchema, Unavailable } from "opencode-embedded";
import { holds, type Same } from "./assert.js";

declare const opencode: OpenCodeHost;
declare const schema: StandardSchema<unknown, { name: string }>;

holds<Same<ReturnType<typeof unavailable>, Unavailable>>();

export const registrations: Registration[] = [
  opencode.contextSources.register({
    key: "acme/branch",
    schema,
    async load({ location, signal }) {
      signal.throwIfAborted();
      return location.directory === "/" ? unavailable("it is no repository") : { name: "main" };
    },
    baseline: ({ name }) => name,
    update: (previous, current) => previous.name + current.name,
    removal: ({ name }) => name,
  }),
  opencode.contextSources.register(
    { key: "acme/count", load: () => 5, baseline: (count) => count.toFixed(1), required: true, timeoutMs: 100 },
    { location: { directory: "/project" } },
  ),
  // @ts-expect-error: a text is not a number
  opencode.contextSources.register({ key: "acme/count", load: () => 5, baseline: (count: string) => count }),
  // @ts-expect-error: a value that JSON cannot represent
  opencode.contextSources.register({ key: "acme/big", load: () => 5n, baseline: () => "" }),
];
