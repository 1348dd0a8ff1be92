//! Texts about sizes.

/// Texts that refuse the value of one parameter.
pub(super) const PARAMETERS: [&str; 4] = [
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    "max_tokens: Input should be less than or equal to 8192",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
];

/// Texts of requests that are too large, and the window that each names.
pub(super) const OVERFLOWS: [(&str, Option<u64>); 98] = [
    // OpenAI, Azure and servers with the same wording
    (
        "This model's maximum context length is 128,000 tokens. However, you requested 130,000 tokens (129,000 in the messages, 1,000 in the completion). Please reduce the length of the messages or completion.",
        Some(128_000),
    ),
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.",
        Some(8192),
    ),
    (
        "This model's maximum context length is 4097 tokens, however you requested 4231 tokens (3975 in your prompt; 256 for the completion). Please reduce your prompt; or completion length.",
        Some(4097),
    ),
    (
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.",
        Some(272_000),
    ),
    // Anthropic
    (
        "prompt is too long: 210,000 tokens > 200,000 maximum",
        Some(200_000),
    ),
    (
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
        Some(200_000),
    ),
    ("too many total text bytes: 9340652 > 9000000", None),
    ("Request exceeds the maximum size", None),
    // Gemini and Vertex
    (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        Some(1_048_576),
    ),
    (
        "Unable to submit request because the input token count is 32825 but model only supports up to 32768. Reduce the input token count and try again.",
        Some(32_768),
    ),
    (
        "Request payload size exceeds the limit: 20971520 bytes.",
        None,
    ),
    // Bedrock
    ("Input is too long for requested model.", None),
    (
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        None,
    ),
    (
        "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
        Some(8192),
    ),
    ("Input exceeds the max input token limit", None),
    // xAI, Mistral, Cohere, Groq, Cerebras
    (
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        Some(131_072),
    ),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Some(32_768),
    ),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating.",
        Some(4081),
    ),
    (
        "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
        None,
    ),
    ("total tokens exceeds the model's max of 4096", Some(4096)),
    (
        "Please reduce the length of the messages or completion.",
        None,
    ),
    (
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        Some(8192),
    ),
    // Moonshot, DashScope, z.ai, MiniMax, Volcengine, SiliconFlow
    (
        "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
        Some(131_072),
    ),
    ("Input token length too long", None),
    (
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
        Some(204_800),
    ),
    ("Prompt exceeds max length", None),
    ("Prompt 超长", None),
    ("tokens in request more than max tokens allowed", None),
    ("invalid params, context window exceeds limit", None),
    (
        "Total tokens of image and text exceed max message tokens.",
        None,
    ),
    (
        "Input length 98314 exceeds the maximum length 98304.",
        Some(98_304),
    ),
    (
        "length of prompt_tokens (32773) must be less than max_seq_len (32768).",
        Some(32_768),
    ),
    // Together, Fireworks, OpenRouter, DeepInfra, SambaNova
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
        Some(4097),
    ),
    (
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500",
        Some(1024),
    ),
    (
        "The prompt is too long: 267657, model maximum context length: 262143",
        Some(262_143),
    ),
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 135349 tokens (60662 of text input, 10687 of tool input, 64000 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
        Some(131_072),
    ),
    (
        "Requested input length 40000 exceeds maximum input length 32767",
        Some(32_767),
    ),
    (
        "Requested generation length 1 is not possible! The provided prompt is 9000 tokens long, so generating 1 tokens requires a sequence length of 9001, but the maximum supported sequence length is just 8192!",
        Some(8192),
    ),
    // Cloudflare
    (
        "5021: AiError: The estimated number of input and maximum output tokens (30000) exceeded this model context window limit (24000).",
        Some(24_000),
    ),
    // Copilot and GitHub Models
    (
        "prompt token count of 130000 exceeds the limit of 128000",
        Some(128_000),
    ),
    (
        "Request body too large for gpt-4o model. Max size: 8000 tokens.",
        Some(8000),
    ),
    // watsonx, Databricks
    (
        "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        Some(8192),
    ),
    (
        "the sum of prompt tokens and max_new_tokens must not exceed the max sequence length 4096",
        Some(4096),
    ),
    (
        "Exceeded the limit on max input tokens for this request",
        None,
    ),
    // vLLM
    (
        "The decoder prompt (length 10000) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        Some(8192),
    ),
    (
        "The engine prompt length 1327246 exceeds the max_model_len 131072. Please reduce prompt.",
        Some(131_072),
    ),
    (
        "Input prompt (9000 tokens) is too long and exceeds limit of 8192",
        Some(8192),
    ),
    (
        "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
        Some(262_144),
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 50000. This model's maximum context length is 32768 tokens and your request has 2000 input tokens (50000 > 32768 - 2000).",
        Some(32_768),
    ),
    ("max_tokens must be at least 1, got -201.", None),
    ("max_completion_tokens must be at least 1, got 0", None),
    // SGLang, TensorRT-LLM, LMDeploy, LightLLM, MLC, mistral.rs, OVMS
    (
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        Some(8192),
    ),
    (
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.",
        Some(8192),
    ),
    (
        "Input length (98314 tokens) exceeds the maximum allowed length (98304 tokens). Use a shorter input or enable --allow-auto-truncate.",
        Some(98_304),
    ),
    (
        "input exceeds the maximum allowed input length of 1,024 tokens",
        Some(1024),
    ),
    (
        "Prompt length (12000) exceeds maximum input length (8192)",
        Some(8192),
    ),
    (
        "the input prompt token len 9000 is too long > 8192",
        Some(8192),
    ),
    (
        "Request prompt has 9000 tokens in total, larger than the model input length limit 8192.",
        Some(8192),
    ),
    ("Prompt sequence length is greater than 4096", Some(4096)),
    (
        "Number of prompt tokens: 9000 exceeds model max length: 8192",
        Some(8192),
    ),
    // llama.cpp and programs around it
    ("Context size has been exceeded.", None),
    (
        "the request exceeds the available context size, try increasing it",
        None,
    ),
    (
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        None,
    ),
    (
        "request (8708 tokens) exceeds the available context size (8192 tokens), try increasing it",
        Some(8192),
    ),
    (
        "Requested tokens (9437) exceed context window of 8192",
        Some(8192),
    ),
    (
        "Prompt tokens (9000) exceeds context size (8192)",
        Some(8192),
    ),
    (
        "prompt has 9,000 tokens, but the configured context size is 8,192 tokens",
        Some(8192),
    ),
    (
        "The prompt size exceeds the context window size and cannot be processed.",
        None,
    ),
    // LM Studio, Ollama, TabbyAPI, LiteRT
    (
        "Trying to keep the first 9114 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
        Some(4096),
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 11463>= n_ctx: 4096).",
        Some(4096),
    ),
    (
        "Reached context length of 4096 tokens, but this model does not currently support mid-generation context overflow.",
        Some(4096),
    ),
    (
        "prompt too long; exceeded max context length by 1200 tokens",
        None,
    ),
    ("the input length exceeds the context length", None),
    (
        "Prompt length 9000 is greater than max_seq_len 8192",
        Some(8192),
    ),
    (
        "Input token ids are too long. Exceeding the maximum number of tokens allowed: 1056 >= 1024",
        Some(1024),
    ),
    // LiteLLM
    (
        "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - no",
        None,
    ),
    // Proxies
    ("413 Request Entity Too Large", None),
    ("Payload Too Large", None),
    ("Content Too Large", None),
    ("The request is too large", None),
    // Others
    ("Token limit exceeded", None),
    ("Too many tokens in the prompt", None),
    ("context window exceeded", None),
    ("Context length exceeded", None),
    ("exceeds context length", None),
    ("exceeds the model's context window", None),
    (
        "exceeds the maximum context window of 8,192 tokens",
        Some(8192),
    ),
    (
        "length exceeds maximum context length (65536)",
        Some(65_536),
    ),
    ("The conversation is too long for this model", None),
    (
        "the prompt does not fit the context window of 16384 tokens",
        Some(16_384),
    ),
    ("上下文长度超过模型限制", None),
    ("输入长度超过最大长度", None),
    // Codes and types alone
    ("context_length_exceeded", None),
    ("exceed_context_size_error", None),
    ("tokens_limit_reached", None),
    ("model_max_prompt_tokens_exceeded", None),
    ("model_context_window_exceeded", None),
];

/// Texts that mention sizes, tokens or limits, and concern something else.
pub(super) const OTHERS: [&str; 42] = [
    "",
    "Throttling error: too many tokens, wait before trying again",
    "Service unavailable: prompt is too long",
    "Rate limit reached: too many tokens per minute",
    "Rate limit reached for gpt-4o in organization o on tokens per min (TPM): Limit 30000, Used 28000, Requested 9000. Please try again in 14s.",
    "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
    "This request exceeds the limit of 30000 tokens per minute",
    "Too Many Requests: token limit exceeded",
    "ThrottlingException: Too many tokens, please wait",
    "maximum context length is many tokens",
    "exceeds the limit of your patience",
    "model not found",
    "The number of images (25) exceeds the limit of 20 per request",
    "too many images in the request: 101 > 100",
    "tools: 129 functions, which exceeds the limit of 128",
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
    "Image size of 24 MB exceeds the limit of 20 MB",
    "The image in the request is too large: maximum length of a side is 8000 pixels",
    "The file in the input exceeds the maximum length",
    "max_tokens 100000 exceeds the limit of 8192",
    "max_tokens is too large: 50000. This model supports at most 16384 completion tokens, whereas you provided 50000.",
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    "max_tokens must be at least 1, got 0.5",
    "max_tokens must be at least 1, got 3",
    "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 32768, but got 65536",
    "Range of max_tokens should be [1, 8192]",
    "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 to 8193",
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
    "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
    "Invalid schema for function 'read': In context=('properties', 'limit'), 'maxLength' is not permitted.",
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "image dimensions exceed max allowed size: 8000 pixels",
    "Request Header Or Cookie Too Large",
    "Request-URI Too Long",
    "A maximum of 100 PDF pages may be provided in one request",
    "Prompt tokens limit exceeded: 12345 > 8000. To increase, upgrade to a paid account",
    "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 12",
    "Daily token limit exceeded",
    "You exceeded your current quota, please check your plan. Quota exceeded for metric: input_token_count, limit: 250000",
    "Internal Server Error",
    "Invalid value for 'messages[1].role'",
    "do request failed: Post \"https://api.openai.com/v1/chat/completions\": context deadline exceeded",
];
