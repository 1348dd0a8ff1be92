// The option `config`: valid keys compile, and misspelled keys do not.

import type { JsonValue, OpenCodeConfig, OpenCodeOptions } from "opencode-embedded";
import { holds, type Same } from "./assert.js";

holds<Same<OpenCodeOptions["config"], OpenCodeConfig | undefined>>();
holds<Same<OpenCodeOptions["model"], string | undefined>>();

export const configs: OpenCodeConfig[] = [
  {},
  { $schema: "https://opencode.ai/config.json", theme: "dark", model: "openai/gpt-4.1-mini" },
  { model: { providerID: "openai", id: "gpt-4.1-mini", variant: "high" }, default_agent: "plan" },
  {
    provider: {
      local: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: "http://127.0.0.1:8080/v1", apiKey: process.env.KEY, includeUsage: false },
        models: {
          "m#1": { tool_call: true, limit: { context: 1000, output: 100 }, cost: { input: 1, output: 2 } },
          m2: { modalities: { input: ["text", "image"] }, variants: { high: { reasoningEffort: "high" } } },
        },
      },
    },
  },
  {
    providers: {
      local: {
        api: { type: "native", url: "http://127.0.0.1:8080/v1", settings: { protocol: "openai-chat" } },
        request: { headers: { a: "b" }, body: { temperature: 0.5 } },
        models: {
          m: {
            api: { id: "wire" },
            capabilities: { tools: true, input: ["text"] },
            cost: [
              { input: 1, output: 2 },
              { tier: { size: 1 }, input: 1, output: 2, cache: { read: 0.1 } },
            ],
            variants: [{ id: "high", body: { reasoningEffort: "high" } }],
          },
        },
      },
    },
  },
  {
    permissions: [{ action: "bash", resource: "git *", effect: "allow" }],
    permission: { edit: "ask", bash: { "*": "ask" } },
  },
  {
    agents: { build: { steps: 3, color: "#7fa0ff", permissions: [] } },
    agent: { build: { prompt: "p", temperature: 1 } },
  },
  { references: { docs: "../docs", lib: { repository: "owner/name", branch: "main", description: "d" } } },
  { compaction: { auto: false, keep: { tokens: 1 } }, tool_output: { max_lines: 1 }, skills: ["./skills"] },
  // @ts-expect-error: a misspelled key
  { modle: "a/b" },
  // @ts-expect-error: a misspelled key of an agent
  { agents: { build: { step: 3 } } },
  // @ts-expect-error: a misspelled key of a provider
  { providers: { local: { apikey: "x" } } },
  // @ts-expect-error: a misspelled key of a model
  { provider: { local: { models: { m: { toolcall: true } } } } },
  // @ts-expect-error: unknown effect
  { permissions: [{ action: "bash", resource: "*", effect: "maybe" }] },
  // @ts-expect-error: a reference is a path or a repository
  { references: { docs: { path: "../docs", repository: "owner/name" } } },
  // @ts-expect-error: a number is not a text
  { compaction: { buffer: "20000" } },
  // @ts-expect-error: JSON has no functions
  { provider: { local: { options: { fetch: () => undefined } } } },
];

/** Configuration is plain JSON. */
export const json: JsonValue = JSON.parse(JSON.stringify(configs)) as JsonValue;
