// Hooks and plugins: the types of their contexts and results.

import type {
  ModelRef,
  OpenCodeHost,
  OpenCodeOptions,
  Plugin,
  PromptInput,
  Registration,
  ToolRecovery,
} from "opencode-embedded";
import { holds, type Same } from "./assert.js";

declare const opencode: OpenCodeHost;

export const registrations: Registration[] = [
  opencode.hooks.onPrompt(async ({ prompt, messageID, signal }) => {
    holds<Same<typeof prompt, PromptInput>>();
    holds<Same<typeof messageID, string | undefined>>();
    signal.throwIfAborted();
    return { prompt: { text: prompt.text } };
  }),
  opencode.hooks.onRequest(
    ({ model, preview }) => {
      holds<Same<typeof model, ModelRef>>();
      return preview ? undefined : { headers: { a: "b" }, body: { temperature: 0 }, system: "Be short." };
    },
    { location: { directory: "/project" }, timeoutMs: 100 },
  ),
  opencode.hooks.onCompaction(() => ({ instructions: "Keep the numbers." })),
  opencode.hooks.onToolCall(({ input }) => ({ input })),
  opencode.hooks.onToolResult(({ error }) => (error === undefined ? { result: "fine" } : { error })),
  // @ts-expect-error: an unknown member
  opencode.hooks.onRequest(() => ({ header: {} })),
  // @ts-expect-error: a text is not the result of a hook
  opencode.hooks.onToolCall(() => "text"),
];

const clock: Plugin = () => {};
export const options: OpenCodeOptions[] = [
  { plugins: [clock, async () => () => {}, (host) => host.hooks.onRequest(() => {})] },
  // @ts-expect-error: a number is not a disposal
  { plugins: [() => 5] },
];

export const recoveries: ToolRecovery<string>[] = [{ done: "Paid" }, "not-started", "unknown"];

opencode.tools.register({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  execute: () => "Paid",
  recover(input, context) {
    holds<Same<typeof input, Record<string, unknown>>>();
    holds<Same<typeof context.idempotencyKey, string>>();
    return { done: "Paid" };
  },
});
