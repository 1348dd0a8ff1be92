//! The body overlay: configured wire fields that the adapters do not know.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json::deep_merge;
use opencode_llm::canonical::request::JsonMap;

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

/// Merges the overlay into a body. Fails with all members that an adapter owns.
pub(super) fn apply(body: &mut JsonMap, overlay: &JsonMap) -> Result<(), LlmError> {
    let owned: Vec<&str> = overlay
        .keys()
        .map(String::as_str)
        .filter(|key| OWNED.contains(key))
        .collect();
    if !owned.is_empty() {
        return Err(LlmError::invalid_request(format!(
            "http.body cannot overlay protocol-owned field(s): {}",
            owned.join(", ")
        )));
    }
    deep_merge(body, overlay);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: serde_json::Value) -> JsonMap {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn an_overlay_merges_or_names_every_owned_field() {
        let mut body = map(json!({"a": {"x": 1}}));
        apply(&mut body, &map(json!({"a": {"y": 2}, "b": null}))).unwrap();
        assert_eq!(body, map(json!({"a": {"x": 1, "y": 2}, "b": null})));
        let error =
            apply(&mut body, &map(json!({"messages": [], "c": 1, "top_p": 1}))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "http.body cannot overlay protocol-owned field(s): messages, top_p"
        );
    }
}
