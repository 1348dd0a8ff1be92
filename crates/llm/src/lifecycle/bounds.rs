//! Size limits of an event. A larger event could not be stored or read back.

use serde_json::Value;

use crate::canonical::event::{LlmEvent, ProviderMetadata};
use crate::canonical::request::ToolResultValue;

/// Maximum nesting depth. JSON is parsed up to 128 levels, and events, messages and pages add
/// levels around the value.
pub const MAX_DEPTH: usize = 100;

/// Maximum length of a tool name, in bytes. Servers accept 64 letters.
pub const MAX_NAME: usize = 1 << 10;

/// Maximum length of an identifier, in bytes. Some servers encode encrypted state in it.
pub const MAX_ID: usize = 16 << 10;

/// Fails if an event exceeds a limit, and names the member that does.
pub(super) fn check(event: &LlmEvent) -> Result<(), String> {
    use LlmEvent as E;
    if let Some((id, name)) = named(event) {
        check_len("an identifier", id, MAX_ID)?;
        check_len("the name of a tool", name, MAX_NAME)?;
    }
    match event {
        E::ToolCall { input, .. } => check_depth("the input of a tool call", input)?,
        E::ToolResult { result, output, .. } => {
            if let ToolResultValue::Json(value) | ToolResultValue::Error(value) = result {
                check_depth("the result of a tool call", value)?;
            }
            if let Some(output) = output {
                check_depth("the result of a tool call", &output.structured)?;
            }
        }
        E::ToolError {
            error: Some(error), ..
        } => check_depth("the failure of a tool call", error)?,
        _ => {}
    }
    let metadata = metadata(event).into_iter().flat_map(|it| it.values());
    for value in metadata {
        check_depth("provider metadata", value)?;
    }
    Ok(())
}

/// Returns the identifier of the block or call of an event, and the name of its tool.
fn named(event: &LlmEvent) -> Option<(&str, &str)> {
    use LlmEvent as E;
    match event {
        E::TextStart { id, .. } | E::ReasoningStart { id, .. } => Some((id, "")),
        E::ToolInputStart { id, name, .. }
        | E::ToolCall { id, name, .. }
        | E::InvalidToolCall { id, name, .. } => Some((id, name)),
        _ => None,
    }
}

fn metadata(event: &LlmEvent) -> Option<&ProviderMetadata> {
    use LlmEvent as E;
    match event {
        E::TextStart {
            provider_metadata, ..
        }
        | E::TextDelta {
            provider_metadata, ..
        }
        | E::TextEnd {
            provider_metadata, ..
        }
        | E::ReasoningStart {
            provider_metadata, ..
        }
        | E::ReasoningDelta {
            provider_metadata, ..
        }
        | E::ReasoningEnd {
            provider_metadata, ..
        }
        | E::ToolInputStart {
            provider_metadata, ..
        }
        | E::ToolInputEnd {
            provider_metadata, ..
        }
        | E::ToolCall {
            provider_metadata, ..
        }
        | E::InvalidToolCall {
            provider_metadata, ..
        }
        | E::ToolResult {
            provider_metadata, ..
        }
        | E::ToolError {
            provider_metadata, ..
        }
        | E::StepFinish {
            provider_metadata, ..
        }
        | E::Finish {
            provider_metadata, ..
        }
        | E::ProviderError {
            provider_metadata, ..
        } => provider_metadata.as_ref(),
        E::StepStart { .. } | E::ToolInputDelta { .. } | E::Cited(_) => None,
    }
}

fn check_len(what: &str, text: &str, most: usize) -> Result<(), String> {
    if text.len() <= most {
        return Ok(());
    }
    let bytes = text.len();
    Err(format!(
        "{what} has {bytes} bytes, and at most {most} are accepted"
    ))
}

fn check_depth(what: &str, value: &Value) -> Result<(), String> {
    if is_within(value, MAX_DEPTH) {
        return Ok(());
    }
    Err(format!(
        "{what} is nested more than {MAX_DEPTH} levels deep"
    ))
}

/// True if a value is nested at most `levels` deep. Stops there, so the recursion is bounded.
pub fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(members) => {
            levels > 0 && members.values().all(|item| is_within(item, levels - 1))
        }
        _ => true,
    }
}
