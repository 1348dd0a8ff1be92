//! Translates types of the model crate into types of events.

use opencode_llm::{
    LlmError, ProviderMetadata as Attached, ToolContent as LlmContent, ToolResultValue,
};
use opencode_schema::message::{
    PAUSED_TURN, ProviderMetadata, REFUSAL, SessionErrorUnknown, ToolContent,
};
use serde_json::{Value, json};

use super::calls::Hosted;
use crate::provider::cause_of;

/// True if a provider paused its answer, by the metadata of the finish.
pub(super) fn is_paused(attached: Option<&Attached>) -> bool {
    let mut namespaces = attached.into_iter().flat_map(|it| it.values());
    namespaces.any(|members| members[PAUSED_TURN] == true)
}

/// Returns the explanation of a refusal, by the metadata of the finish.
pub(super) fn refusal(attached: Option<&Attached>) -> Option<Value> {
    let mut namespaces = attached.into_iter().flat_map(|it| it.values());
    let explained = namespaces.find_map(|members| members[REFUSAL].as_object())?;
    Some(Value::Object(explained.clone()))
}

/// Returns the outcome of a call that the provider ran. The result is stored unchanged, because it must
/// be sent back unchanged. Readers get the adapter's output, or else a form derived from the result.
pub(super) fn hosted(
    result: ToolResultValue,
    output: Option<Box<opencode_llm::ToolOutput>>,
    metadata: Option<ProviderMetadata>,
) -> Hosted {
    let native = serde_json::to_value(&result).ok();
    let (structured, content) = match (output, result) {
        (_, ToolResultValue::Error(value)) => {
            let text = value.as_str().map(str::to_owned);
            return Hosted::Failed {
                message: text.unwrap_or_else(|| value.to_string()),
                result: native,
                metadata,
            };
        }
        (Some(output), _) => (output.structured, output.content),
        (None, ToolResultValue::Json(value)) => (value, Vec::new()),
        (None, ToolResultValue::Text(text)) => (json!({}), vec![LlmContent::Text { text }]),
        (None, ToolResultValue::Content(content)) => (json!({}), content),
    };
    Hosted::Success {
        structured,
        content: content.into_iter().map(content_of).collect(),
        result: native,
        metadata,
    }
}

/// Returns the failure of a call that the provider ran and that gave no result.
pub(super) fn hosted_failure(
    message: String,
    error: Option<Value>,
    metadata: Option<ProviderMetadata>,
) -> Hosted {
    let native = error.map(ToolResultValue::Error);
    Hosted::Failed {
        message,
        result: native.and_then(|native| serde_json::to_value(native).ok()),
        metadata,
    }
}

fn content_of(content: LlmContent) -> ToolContent {
    match content {
        LlmContent::Text { text } => ToolContent::Text { text },
        LlmContent::File { uri, mime, name } => ToolContent::File { uri, mime, name },
    }
}

pub(super) fn step_error(error: &LlmError, provider_id: &str) -> SessionErrorUnknown {
    SessionErrorUnknown {
        cause: Some(cause_of(error, provider_id)),
        ..SessionErrorUnknown::new(error.to_string())
    }
}
