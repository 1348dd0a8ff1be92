//! Failures that a server reports inside an answer with a success status.

use serde_json::Value;

use super::surrogates;
use crate::canonical::error::{bounded, in_stream_kind};
use crate::canonical::event::LlmEvent;

/// Returns the event for an error: an object with code, type and message, or a string.
pub(super) fn event(error: &Value) -> LlmEvent {
    let error = match error {
        Value::Array(errors) => errors.first().unwrap_or_default(),
        error => error,
    };
    let member = |name: &str| match error.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let (code, mut error_type) = (member("code"), member("type"));
    // The type `error` gives no information.
    if error_type == "error" {
        error_type.clear();
    }
    let message = match error {
        Value::String(text) => text.clone(),
        _ => message_of(error).unwrap_or_default().to_owned(),
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

/// Returns the event for a value that may report an error, in its member `error` or in its own members.
pub(super) fn reported(value: &Value) -> Option<LlmEvent> {
    let value = match value {
        Value::Array(values) => values.first()?,
        value => value,
    };
    match value.get("error").filter(|error| is_told(error)) {
        Some(error) => Some(event(error)),
        None => message_of(value).map(|_| event(value)),
    }
}

/// True if the member `error` reports one. Some servers always write the member.
pub(super) fn is_told(error: &Value) -> bool {
    match error {
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Array(errors) => errors.iter().any(is_told),
        _ => false,
    }
}

/// Returns the event for a frame named `error` with any content.
pub(super) fn named(data: &[u8]) -> LlmEvent {
    match surrogates::parse(data) {
        Ok(value) => reported(&value).unwrap_or_else(|| event(&value)),
        Err(_) => event(&String::from_utf8_lossy(data).into()),
    }
}

/// Returns the message of an error.
fn message_of(error: &Value) -> Option<&str> {
    let text = |name: &str| error.get(name)?.as_str().filter(|text| !text.is_empty());
    text("message").or_else(|| text("detail"))
}
