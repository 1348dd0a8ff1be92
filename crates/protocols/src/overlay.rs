//! The body overlay: configured wire fields that the adapters do not know.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json::deep_merge;
use opencode_llm::canonical::overlay::owned_members;
use opencode_llm::canonical::request::JsonMap;

/// Merges the overlay into a body. Fails with all members that an adapter owns.
pub(super) fn apply(body: &mut JsonMap, overlay: &JsonMap) -> Result<(), LlmError> {
    let owned = owned_members(overlay);
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
