// Tools: the types that flow from the schemas to the function.

import type { JsonObject, OpenCodeHost, Registration, StandardSchema, ToolCallContext } from "opencode-embedded";
import { holds, type Same } from "./assert.js";

declare const opencode: OpenCodeHost;
declare const input: StandardSchema<{ day?: string }, { day: Date }>;
declare const output: StandardSchema<{ celsius: number }, { celsius: string }>;
declare const aiSchema: { readonly _type: { city: string }; readonly jsonSchema: object };

const described = { name: "weather", description: "Returns the weather." };

export const registrations: Registration[] = [
  opencode.tools.register({
    ...described,
    input,
    output,
    permission: { resources: ({ day }) => [day.toISOString()], save: ["*"] },
    async execute(given, context) {
      holds<Same<typeof given, { day: Date }>>();
      holds<Same<typeof context, ToolCallContext>>();
      return { celsius: 5 };
    },
  }),
  opencode.tools.register({
    ...described,
    input: aiSchema,
    execute(given) {
      holds<Same<typeof given, { city: string }>>();
      return given.city;
    },
  }),
  opencode.tools.register(
    {
      ...described,
      input: { type: "object", properties: { city: { type: "string" } } },
      execute(given) {
        holds<Same<typeof given, Record<string, unknown>>>();
        return { content: [{ type: "image", data: new Uint8Array(), mediaType: "image/png" }] };
      },
    },
    { location: { directory: "/project" } },
  ),
  opencode.tools.register({
    ...described,
    input,
    output: { type: "object" },
    execute: (): JsonObject => ({ celsius: 5 }),
  }),
  // @ts-expect-error: the result is not the input of the output schema
  opencode.tools.register({ ...described, input, output, execute: () => ({ celsius: "5" }) }),
  // @ts-expect-error: a function is no result
  opencode.tools.register({ ...described, input, execute: () => () => "text" }),
  // @ts-expect-error: an unknown member
  opencode.tools.register({ ...described, input, execute: () => "", timeout: 5 }),
  // @ts-expect-error: a JSON Schema of another type
  opencode.tools.register({ ...described, input: { type: "string" }, execute: () => "" }),
];
