//! Failures that a server reports inside its stream.

use serde_json::Value;

use super::chunk::Chunk;
use crate::error::{bounded, in_stream_kind};
use crate::event::LlmEvent;

/// The failure a chunk reports, if it reports one: in its `error` member, or as the whole chunk.
pub(super) fn reported(chunk: &Chunk<'_>, data: &[u8]) -> Option<LlmEvent> {
    let in_member = chunk
        .error
        .is_some_and(|error| !matches!(error.get(), r#""""# | "{}" | "false"));
    let is_bare = chunk.choices.0.is_none() && chunk.usage.is_none();
    if !in_member && !is_bare {
        return None;
    }
    let chunk: Value = serde_json::from_slice(data).ok()?;
    if in_member {
        Some(event(chunk.get("error")?))
    } else {
        let is_failure = chunk.get("object").is_some_and(|object| object == "error");
        is_failure.then(|| event(&chunk))
    }
}

/// The event for an error with code, type and message, or of plain text.
fn event(error: &Value) -> LlmEvent {
    let member = |name: &str| match error.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let (code, error_type) = (member("code"), member("type"));
    let message = match error {
        Value::String(text) => text.clone(),
        _ => member("message"),
    };
    let kind = in_stream_kind(&code, &error_type, &message);
    let label = if code.is_empty() { error_type } else { code };
    let shown = match (label.is_empty(), message.is_empty()) {
        (true, true) => "The provider reported an error without a message".to_owned(),
        (true, false) => message,
        (false, true) => label,
        (false, false) => format!("{label}: {message}"),
    };
    LlmEvent::ProviderError {
        message: bounded(&shown),
        kind,
        retryable: kind.is_retryable(),
        provider_metadata: None,
    }
}
