//! Detection of requests that did not fit the context window.
//!
//! Providers share no code for this failure, so the wording decides. A phrase matches anywhere in
//! the text, ignores case and treats underscores as spaces. In a phrase, `#` stands for digits with
//! commas, `*` for a short text of any kind, and `[…]` for optional words.

/// Maximum length of the text that `*` matches, in characters. Long enough for one or two model
/// names, short enough to stay within a sentence.
const GAP: usize = 200;

const PHRASES: [&str; 36] = [
    // Anthropic
    "prompt is too long",
    "request too large",
    "exceed context limit",
    // Bedrock, and servers with a short message
    "input [is ]too long",
    // OpenAI, Groq, vLLM, LiteLLM and servers based on them
    "exceeds [the ][model's ][maximum ]context length",
    "exceeds [the ][model's ][maximum ]context window",
    "maximum context length is #",
    "maximum context length of #",
    "context length exceeded",
    "reduce the length of the messages",
    "exceeds [the ]maximum allowed input length of # tokens",
    "input (# tokens) is longer than the model's context length (# tokens)",
    "prompt has # tokens, but the configured context size is # tokens",
    "too large for model with # maximum context length",
    // Gemini
    "input token count*exceeds the maximum",
    // xAI
    "maximum prompt length is #",
    // Copilot; its messages about limits of images, tools and answers are similar
    "token count*exceeds the limit of #",
    "prompt exceeds the limit of #",
    "input exceeds the limit of #",
    // llama.cpp, LM Studio, Ollama
    "exceeds the available context size",
    "greater than the context length",
    "prompt too long",
    "context length is only # tokens",
    "input length*exceeds*context length",
    // MiniMax, Kimi, z.ai and similar servers
    "context window exceeds limit",
    "context window exceeded",
    "exceeded model token limit",
    "tokens in request more than max tokens allowed",
    // Proxies and servers with an unspecific message
    "request is too large",
    "request entity too large",
    "payload too large",
    "too many tokens",
    "token limit exceeded",
    "400 status code (no body)",
    "413 status code (no body)",
    "400 (no body)",
];

/// Words of throttling and quota messages. These also mention tokens and limits, but they are not
/// overflows. The words may occur inside the JSON text of a failure.
const EXCLUDED: [&str; 8] = [
    "throttling",
    "service unavailable:",
    "rate limit",
    "too many requests",
    "quota",
    "daily",
    "per minute",
    "per day",
];

/// True if the text of a provider says that the request did not fit the context window.
#[must_use]
pub fn is_overflow_text(text: &str) -> bool {
    let text = canonical(text);
    let is_excluded = EXCLUDED.iter().any(|word| text.contains(word));
    !is_excluded && PHRASES.iter().any(|phrase| occurs(phrase, &text))
}

fn canonical(text: &str) -> String {
    text.replace('_', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

fn occurs(phrase: &str, text: &str) -> bool {
    text.char_indices()
        .any(|(at, _)| matches_here(phrase, &text[at..]))
}

fn matches_here(phrase: &str, text: &str) -> bool {
    let Some(first) = phrase.chars().next() else {
        return true;
    };
    match first {
        '#' => {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
            text.starts_with(|c: char| c.is_ascii_digit()) && matches_here(&phrase[1..], rest)
        }
        '[' => {
            let (optional, after) = phrase[1..]
                .split_once(']')
                .expect("every bracket in the table is closed");
            let present = text
                .strip_prefix(optional)
                .is_some_and(|rest| matches_here(after, rest));
            present || matches_here(after, text)
        }
        '*' => text
            .char_indices()
            .take(GAP)
            .any(|(at, _)| matches_here(&phrase[1..], &text[at..])),
        literal => text
            .strip_prefix(literal)
            .is_some_and(|rest| matches_here(&phrase[literal.len_utf8()..], rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_overflow_phrase_is_recognised() {
        let rows = [
            "prompt is too long: 210,000 tokens > 200,000 maximum",
            r#"{"error":{"type":"request_too_large"}}"#,
            "Input is too long for requested model.",
            "Your input exceeds the context window of this model.",
            "This model's maximum context length is 128,000 tokens. However",
            "context_length_exceeded",
            "Context length exceeded",
            "Please reduce the length of the messages or completion.",
            "The prompt exceeds the model's maximum context length of 4096 tokens",
            "length exceeds maximum context length (65536)",
            "input exceeds the maximum allowed input length of 1,024 tokens",
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
            "prompt has 9,000 tokens, but the configured context size is 8,192 tokens",
            "Request too large for model with 32768 maximum context length",
            "The input token count (1200000) exceeds the maximum number of tokens allowed",
            "This model's maximum prompt length is 131072 but the request",
            "prompt token count of 130000 exceeds the limit of 128000",
            "the request exceeds the available context size, try increasing it",
            "tokens to keep is greater than the context length",
            "prompt too long; exceeded max context length by 12 tokens",
            "prompt too long; exceeded context length",
            "the model's context length is only 4096 tokens",
            "Input length (9000) exceeds the model's maximum context length (8192)",
            "invalid params, context window exceeds limit",
            "Invalid request: Your request exceeded model token limit: 131072",
            "model_context_window_exceeded",
            "tokens in request more than max tokens allowed",
            "413 Request Entity Too Large",
            "Too many tokens in the prompt",
            "Token limit exceeded",
            "400 status code (no body)",
            "413 status code (no body)",
            "400 (no body)",
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
            "The input is too long",
            "input too long",
            "prompt too long",
            "exceeds the model's context window",
            "exceeds the maximum context window of 8,192 tokens",
            "exceeds context length",
            "context window exceeded",
            "The request is too large",
            "The maximum context length is 4096",
            "over the maximum context length of 4,096 tokens",
            r#"{"error":"Payload Too Large"}"#,
        ];
        for text in rows {
            assert!(is_overflow_text(text), "{text}");
        }
    }

    #[test]
    fn throttling_and_other_texts_are_no_overflow() {
        let rows = [
            "",
            "Throttling error: too many tokens, wait before trying again",
            "Service unavailable: prompt is too long",
            "Rate limit reached: too many tokens per minute",
            "rate_limit_exceeded: request too large",
            "Too Many Requests: token limit exceeded",
            r#"{"error":{"message":"Throttling error: too many tokens"}}"#,
            "ThrottlingException: Too many tokens, please wait",
            "maximum context length is many tokens",
            "exceeds the limit of your patience",
            "model not found",
            // These limits do not concern the size of the conversation.
            "The number of images (25) exceeds the limit of 20 per request",
            "tools: 129 functions, which exceeds the limit of 128",
            "Image size of 24 MB exceeds the limit of 20 MB",
            "max_tokens 100000 exceeds the limit of 8192",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
            "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 to 8193",
            "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.",
            "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
            "image dimensions exceed max allowed size: 8000 pixels",
            "Prompt tokens limit exceeded: 12345 > 8000. To increase, upgrade to a paid account",
            "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 12",
            "Daily token limit exceeded",
            "You exceeded your current quota, please check your plan. Quota exceeded for metric: input_token_count, limit: 250000",
        ];
        for text in rows {
            assert!(!is_overflow_text(text), "{text}");
        }
    }

    #[test]
    fn the_parts_of_an_overflow_phrase_must_be_close_together() {
        let far = format!("input token count {} exceeds the maximum", "x".repeat(300));
        assert!(!is_overflow_text(&far));
    }
}
