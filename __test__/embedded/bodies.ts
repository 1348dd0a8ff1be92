import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

// The request bodies that the documents of the providers describe, limited to the members that this package sends.
// Other members are omitted here, so the check refuses them until they are added.
//
// - OpenAI Chat Completions, https://platform.openai.com/docs/api-reference/chat/create
// - OpenAI Responses, https://platform.openai.com/docs/api-reference/responses/create
// - Anthropic Messages, https://docs.anthropic.com/en/api/messages
// - Amazon Bedrock, https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
// - Gemini, https://ai.google.dev/api/generate-content

type Schema = Record<string, unknown>;

const text = { type: "string" };
const filled = { type: "string", minLength: 1 };
const number = { type: "number" };
const count = { type: "integer", minimum: 0 };
const flag = { type: "boolean" };
const anything = {};
const map = { type: "object" };
const oneOf = (...values: string[]): Schema => ({ enum: values });
const list = (items: Schema, minItems = 0): Schema => ({ type: "array", items, minItems });
const either = (...schemas: Schema[]): Schema => ({ anyOf: schemas });

/** An object with these members and no others. A member with a question mark is optional. */
function object(members: Record<string, Schema>): Schema {
  const names = Object.keys(members);
  const required = names.filter((name) => !name.endsWith("?"));
  const properties = Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), members[name]]));
  return { type: "object", required, properties, additionalProperties: false };
}

/** One of these objects, distinguished by `type`. */
function kinds(variants: Record<string, Record<string, Schema>>): Schema {
  const schemas = Object.entries(variants).map(([type, members]) => object({ type: { const: type }, ...members }));
  return { oneOf: schemas };
}

const jsonSchema = { type: "object", required: ["type"], properties: { type: { const: "object" } } };

const chatPart = kinds({
  text: { text },
  image_url: { image_url: object({ url: filled, "detail?": oneOf("auto", "low", "high") }) },
  file: { file: object({ "filename?": text, "file_data?": filled, "file_id?": filled }) },
});
const chatCall = object({
  id: filled,
  type: { const: "function" },
  function: object({ name: filled, arguments: text }),
});
const chatMessage = either(
  object({ role: oneOf("system", "developer"), content: filled }),
  object({ role: { const: "user" }, content: either(text, list(chatPart, 1)) }),
  object({
    role: { const: "assistant" },
    // May be absent or null in a message that has only calls.
    content: either(text, { type: "null" }),
    tool_calls: list(chatCall, 1),
    "reasoning_content?": text,
    // Of OpenRouter and of GitHub Copilot.
    "reasoning?": text,
    "reasoning_details?": list(anything),
    "reasoning_text?": text,
    "reasoning_opaque?": text,
  }),
  object({
    role: { const: "assistant" },
    content: filled,
    "reasoning_content?": text,
    // Of OpenRouter and of GitHub Copilot.
    "reasoning?": text,
    "reasoning_details?": list(anything),
    "reasoning_text?": text,
    "reasoning_opaque?": text,
  }),
  object({ role: { const: "tool" }, tool_call_id: filled, content: either(text, list(chatPart, 1)) }),
);
const chat = object({
  model: filled,
  messages: list(chatMessage, 1),
  stream: { const: true },
  "stream_options?": object({ include_usage: flag }),
  // Of OpenRouter, https://openrouter.ai/docs/use-cases/usage-accounting
  "usage?": object({ include: flag }),
  "tools?": list(
    object({
      type: { const: "function" },
      function: object({ name: filled, "description?": text, parameters: jsonSchema, "strict?": flag }),
    }),
    1,
  ),
  "tool_choice?": either(
    oneOf("none", "auto", "required"),
    object({ type: { const: "function" }, function: object({ name: filled }) }),
  ),
  "temperature?": number,
  "top_p?": number,
  "frequency_penalty?": number,
  "presence_penalty?": number,
  "seed?": { type: "integer" },
  "stop?": either(text, list(text)),
  "max_tokens?": count,
  "max_completion_tokens?": count,
  "reasoning_effort?": text,
  "verbosity?": oneOf("low", "medium", "high"),
  "store?": flag,
  "user?": text,
  "prompt_cache_key?": text,
  "service_tier?": text,
  "parallel_tool_calls?": flag,
});

const inputPart = kinds({
  input_text: { text },
  input_image: { detail: oneOf("auto", "low", "high"), "image_url?": filled, "file_id?": filled },
  input_file: { "filename?": text, "file_data?": filled, "file_id?": filled, "file_url?": filled },
});
const outputPart = kinds({ output_text: { text, "annotations?": list(anything) }, refusal: { refusal: text } });
const phase = oneOf("commentary", "final_answer");
const status = oneOf("in_progress", "completed", "incomplete");
const responsesItem = either(
  object({
    "type?": { const: "message" },
    role: oneOf("user", "system", "developer"),
    content: either(text, list(inputPart, 1)),
  }),
  object({ "type?": { const: "message" }, role: { const: "assistant" }, content: filled, "phase?": phase }),
  object({
    type: { const: "message" },
    role: { const: "assistant" },
    id: filled,
    status,
    content: list(outputPart, 1),
    "phase?": phase,
  }),
  object({
    type: { const: "function_call" },
    call_id: filled,
    name: filled,
    arguments: text,
    "id?": filled,
    "status?": status,
  }),
  object({
    type: { const: "function_call_output" },
    call_id: filled,
    output: either(text, list(inputPart, 1)),
    "id?": filled,
    "status?": status,
  }),
  object({
    type: { const: "reasoning" },
    id: filled,
    summary: list(object({ type: { const: "summary_text" }, text })),
    "encrypted_content?": either(text, { type: "null" }),
  }),
  object({ type: { const: "item_reference" }, id: filled }),
  // Calls that the provider executed itself are sent back unchanged.
  { type: "object", required: ["type", "id"], properties: { type: { pattern: "^(?!function).*_call$" }, id: filled } },
);
const responses = object({
  model: filled,
  input: list(responsesItem, 1),
  stream: { const: true },
  "instructions?": text,
  "tools?": list(
    object({ type: { const: "function" }, name: filled, "description?": text, parameters: jsonSchema, strict: flag }),
    1,
  ),
  "tool_choice?": either(oneOf("none", "auto", "required"), object({ type: { const: "function" }, name: filled })),
  "max_output_tokens?": count,
  "temperature?": number,
  "top_p?": number,
  "reasoning?": object({ "effort?": text, "summary?": oneOf("auto", "concise", "detailed") }),
  "text?": object({ "verbosity?": oneOf("low", "medium", "high"), "format?": map }),
  "include?": list(text),
  "store?": flag,
  "prompt_cache_key?": text,
  "parallel_tool_calls?": flag,
  "service_tier?": text,
  "metadata?": map,
  "user?": text,
  "previous_response_id?": text,
});

const cache = object({ type: { const: "ephemeral" }, "ttl?": oneOf("5m", "1h") });
const source = kinds({ base64: { media_type: filled, data: filled }, url: { url: filled }, file: { file_id: filled } });
const file = {
  image: { source, "cache_control?": cache },
  document: {
    source,
    "title?": either(text, { type: "null" }),
    "context?": either(text, { type: "null" }),
    "citations?": map,
    "cache_control?": cache,
  },
};
const said = { text: { text: filled, "citations?": list(map), "cache_control?": cache } };
const id = { type: "string", pattern: "^[a-zA-Z0-9_-]+$" };
const name = { type: "string", pattern: "^[a-zA-Z0-9_-]{1,128}$" };
const block = kinds({
  ...said,
  ...file,
  thinking: { thinking: text, signature: text },
  redacted_thinking: { data: text },
  tool_use: { id, name, input: map, "cache_control?": cache },
  tool_result: {
    tool_use_id: id,
    "content?": either(text, list(kinds({ ...said, ...file }))),
    "is_error?": flag,
    "cache_control?": cache,
  },
  server_tool_use: { id, name, input: map, "cache_control?": cache },
  web_search_tool_result: { tool_use_id: id, content: anything, "cache_control?": cache },
});
const messages = object({
  model: filled,
  max_tokens: { type: "integer", minimum: 1 },
  messages: list(object({ role: oneOf("user", "assistant", "system"), content: list(block, 1) }), 1),
  stream: { const: true },
  "system?": list(kinds(said), 1),
  "tools?": list(object({ name, "description?": text, input_schema: jsonSchema, "cache_control?": cache }), 1),
  "tool_choice?": kinds({
    auto: { "disable_parallel_tool_use?": flag },
    any: { "disable_parallel_tool_use?": flag },
    tool: { name, "disable_parallel_tool_use?": flag },
    none: {},
  }),
  "temperature?": { type: "number", minimum: 0, maximum: 1 },
  "top_p?": number,
  "top_k?": count,
  "stop_sequences?": list(text),
  "thinking?": kinds({
    enabled: { budget_tokens: { type: "integer", minimum: 1024 } },
    adaptive: { "display?": text },
    disabled: {},
  }),
  "output_config?": map,
  "metadata?": map,
  "service_tier?": text,
});

const signature = { "thoughtSignature?": filled };
const inline = object({ inlineData: object({ mimeType: filled, data: filled }) });
const geminiPart = either(
  object({ text, "thought?": flag, ...signature }),
  object({ inlineData: object({ mimeType: filled, data: filled }), ...signature }),
  object({ functionCall: object({ name: filled, args: map, "id?": filled }), ...signature }),
  object({
    functionResponse: object({ name: filled, response: map, "id?": filled, "parts?": list(inline, 1) }),
  }),
  object({ executableCode: object({ language: filled, code: text, "id?": filled }), ...signature }),
  object({ codeExecutionResult: object({ outcome: filled, "output?": text, "id?": filled }), ...signature }),
);
const gemini = object({
  contents: list(object({ role: oneOf("user", "model"), parts: list(geminiPart, 1) }), 1),
  "systemInstruction?": object({ parts: list(object({ text }), 1) }),
  "tools?": list(
    object({
      functionDeclarations: list(object({ name: filled, "description?": text, "parameters?": map }), 1),
    }),
    1,
  ),
  "toolConfig?": object({
    functionCallingConfig: object({ mode: oneOf("AUTO", "ANY", "NONE"), "allowedFunctionNames?": list(filled, 1) }),
  }),
  "generationConfig?": object({
    "maxOutputTokens?": count,
    "temperature?": number,
    "topP?": number,
    "topK?": number,
    "frequencyPenalty?": number,
    "presencePenalty?": number,
    "seed?": { type: "integer" },
    "stopSequences?": list(text),
    "candidateCount?": count,
    "responseMimeType?": text,
    "responseSchema?": map,
    "responseJsonSchema?": map,
    "thinkingConfig?": object({ "thinkingBudget?": number, "thinkingLevel?": text, "includeThoughts?": flag }),
    "responseModalities?": list(text),
    "mediaResolution?": text,
    "imageConfig?": map,
  }),
  "safetySettings?": list(map),
  "cachedContent?": text,
  "labels?": map,
});

const cachePoint = object({ cachePoint: object({ type: { const: "default" }, "ttl?": text }) });
const bytes = object({ bytes: filled });
const converseFile = [
  object({ image: object({ format: oneOf("png", "jpeg", "gif", "webp"), source: bytes }) }),
  object({
    document: object({ format: text, name: { type: "string", pattern: "^[A-Za-z0-9 ()\\[\\]-]+$" }, source: bytes }),
  }),
];
const converseBlock = either(
  object({ text: filled }),
  ...converseFile,
  object({ toolUse: object({ toolUseId: id, name, input: map }) }),
  object({
    toolResult: object({
      toolUseId: id,
      content: list(either(object({ text: filled }), object({ json: map }), ...converseFile), 1),
      "status?": oneOf("success", "error"),
    }),
  }),
  object({
    reasoningContent: either(
      object({ reasoningText: object({ text, "signature?": text }) }),
      object({ redactedContent: text }),
    ),
  }),
  cachePoint,
);
const converse = object({
  messages: list(object({ role: oneOf("user", "assistant"), content: list(converseBlock, 1) }), 1),
  "system?": list(either(object({ text: filled }), cachePoint), 1),
  "toolConfig?": object({
    tools: list(
      either(
        object({ toolSpec: object({ name, "description?": text, inputSchema: object({ json: jsonSchema }) }) }),
        cachePoint,
      ),
      1,
    ),
    "toolChoice?": either(object({ auto: map }), object({ any: map }), object({ tool: object({ name }) })),
  }),
  "inferenceConfig?": object({
    "maxTokens?": { type: "integer", minimum: 1 },
    "temperature?": { type: "number", minimum: 0, maximum: 1 },
    "topP?": number,
    "stopSequences?": list(text),
  }),
  "additionalModelRequestFields?": map,
  "guardrailConfig?": map,
  "performanceConfig?": map,
  "requestMetadata?": map,
  "serviceTier?": map,
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
const BODIES: Record<string, ValidateFunction> = {
  "/v1/chat/completions": ajv.compile(chat),
  "/v1/responses": ajv.compile(responses),
  "/v1/messages": ajv.compile(messages),
  "/v1/model/m1/converse-stream": ajv.compile(converse),
  "/v1/models/m1:streamGenerateContent?alt=sse": ajv.compile(gemini),
};

/** The members of a body that the documents of a provider do not allow. Empty for an address of no known provider. */
export function findDifferences(path: string, body: unknown): string[] {
  const validate = BODIES[path];
  if (validate === undefined || validate(body)) return [];
  const problems = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${path}${instancePath} ${message ?? ""} ${JSON.stringify(params)}`,
  );
  return problems.slice(0, 20);
}
