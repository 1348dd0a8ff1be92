//! Common parts of the protocols of OpenAI.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::model::ResolvedModel;
use opencode_llm::canonical::request::JsonMap;
use serde_json::Value;

use super::body::option;

/// The namespace of the options and metadata of these protocols.
pub(super) const NAMESPACE: &str = "openai";

/// True for a reasoning model on an endpoint of OpenAI. These refuse sampling controls.
pub(super) fn is_own_reasoning(model: &ResolvedModel) -> bool {
    model.is_at_openai() && (model.capabilities.reasoning || is_reasoning_id(&model.id))
}

/// True if a name belongs to a reasoning family, for models that the catalogue does not know. The
/// chat variant of the newest family does not reason.
pub(super) fn is_reasoning_id(id: &str) -> bool {
    ["o1", "o3", "o4", "gpt-5"]
        .iter()
        .any(|family| id.starts_with(family))
        && !id.starts_with("gpt-5-chat")
}

/// Returns the reasoning effort. OpenAI does not support `max`, but other servers do.
pub(super) fn effort(
    options: &JsonMap,
    is_openai: bool,
    protocol: &str,
) -> Result<Option<String>, LlmError> {
    match option(options, "reasoningEffort") {
        None => Ok(None),
        Some(Value::String(effort)) if is_openai && effort == "max" => {
            Err(LlmError::invalid_request(format!(
                "{protocol} does not support reasoning effort {effort}"
            )))
        }
        Some(Value::String(effort)) => Ok(Some(effort.clone())),
        Some(_) => Err(LlmError::invalid_request(
            "reasoningEffort must be a string",
        )),
    }
}
