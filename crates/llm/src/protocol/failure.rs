//! Failures that a server reports inside its stream.

use serde_json::Value;

use crate::error::{bounded, in_stream_kind};
use crate::event::LlmEvent;

/// The event for an error with code, type and message, or of plain text.
pub(super) fn event(error: &Value) -> LlmEvent {
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
