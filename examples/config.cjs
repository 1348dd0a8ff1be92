// The model of the examples. The key is read from OPENAI_API_KEY, and another address from OPENAI_BASE_URL.

/** Options for `OpenCode.create`: any model of OpenAI, or of a server that is compatible with it. */
exports.options = { model: `openai/${process.env.OPENAI_MODEL ?? "gpt-4.1-mini"}` };
