//! The members of a body that no configuration and no hook may set.

use crate::canonical::request::JsonMap;

/// Members that the adapter of some protocol owns. An overlay of these would contradict the output of the adapter.
const OWNED: [&str; 36] = [
    "content",
    "contents",
    "frequencyPenalty",
    "frequency_penalty",
    "generationConfig",
    "inferenceConfig",
    "input",
    "maxTokens",
    "max_tokens",
    "messages",
    "model",
    "presencePenalty",
    "presence_penalty",
    "responseFormat",
    "response_format",
    "seed",
    "stop",
    "stopSequences",
    "stop_sequences",
    "stream",
    "streamOptions",
    "stream_options",
    "system",
    "systemInstruction",
    "system_instruction",
    "temperature",
    "thinking",
    "toolChoice",
    "toolConfig",
    "tool_choice",
    "tool_config",
    "tools",
    "topK",
    "topP",
    "top_k",
    "top_p",
];

/// Returns the members of an overlay that an adapter owns.
#[must_use]
pub fn owned_members(overlay: &JsonMap) -> Vec<&str> {
    let members = overlay.keys().map(String::as_str);
    members.filter(|name| OWNED.contains(name)).collect()
}
