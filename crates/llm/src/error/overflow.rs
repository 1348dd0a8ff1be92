//! Recognising that a request did not fit the context window.
//!
//! Providers have no common code for it, so the wording decides. A phrase is matched anywhere in
//! the text, without regard to case and with underscores read as spaces. In a phrase `#` stands for
//! digits with commas, `*` for a short stretch of anything and `[…]` for words that may be missing.

/// The furthest `*` reaches, in characters. Far enough for a model name or two, near enough to stay
/// in the sentence.
const GAP: usize = 200;

const PHRASES: [&str; 34] = [
    // Anthropic
    "prompt is too long",
    "request too large",
    "exceed context limit",
    // Bedrock, and what says no more
    "input [is ]too long",
    // OpenAI, Groq, vLLM, LiteLLM and what is built on them
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
    // Copilot
    "exceeds the limit of #",
    // llama.cpp, LM Studio, Ollama
    "exceeds the available context size",
    "greater than the context length",
    "prompt too long",
    "context length is only # tokens",
    "input length*exceeds*context length",
    // MiniMax, Kimi, z.ai and relatives
    "context window exceeds limit",
    "context window exceeded",
    "exceeded model token limit",
    "tokens in request more than max tokens allowed",
    // Proxies and servers that only say so much
    "request is too large",
    "request entity too large",
    "payload too large",
    "too many tokens",
    "token limit exceeded",
    "400 status code (no body)",
    "413 status code (no body)",
    "400 (no body)",
];

/// Throttling speaks of tokens and limits too, and is no overflow. What says so may stand inside the
/// JSON text of a failure.
const EXCLUDED: [&str; 4] = [
    "throttling",
    "service unavailable:",
    "rate limit",
    "too many requests",
];

/// Whether a provider's text says that the request did not fit the context window.
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
    fn one_positive_per_phrase() {
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
    fn throttling_and_other_texts_are_none() {
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
        ];
        for text in rows {
            assert!(!is_overflow_text(text), "{text}");
        }
    }

    #[test]
    fn a_gap_ends() {
        let far = format!("input token count {} exceeds the maximum", "x".repeat(300));
        assert!(!is_overflow_text(&far));
    }
}
