// The model of the examples: any server that speaks OpenAI Chat Completions.

const model = process.env.OPENAI_MODEL ?? "gpt-4.1-mini";

/** The option `config`. The same keys may stand in an `opencode.json`. */
exports.config = {
  model: `openai/${model}`,
  provider: {
    openai: {
      npm: "@ai-sdk/openai-compatible",
      options: {
        baseURL: process.env.OPENAI_BASE_URL ?? "https://api.openai.com/v1",
        apiKey: process.env.OPENAI_API_KEY,
      },
      models: { [model]: { tool_call: true } },
    },
  },
};
