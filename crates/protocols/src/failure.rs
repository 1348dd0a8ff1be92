//! Failures that a server reports inside an answer with a success status.

use opencode_llm::canonical::error::{InStreamReport, bounded, window_in};
use opencode_llm::canonical::event::LlmEvent;
use opencode_llm::surrogates;
use serde_json::{Number, Value};

/// Returns the event for an error: an object with code, type and message, or a string.
pub(super) fn event(error: &Value) -> LlmEvent {
    event_in(error, error)
}

/// Returns the event for an error. `whole` contains the error, and may have more about its cause.
fn event_in(error: &Value, whole: &Value) -> LlmEvent {
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
    let InStreamReport {
        kind,
        message: told,
        window,
    } = InStreamReport::of(whole);
    let message = match error {
        Value::String(text) => text.clone(),
        _ => message_of(error).map_or_else(|| told.unwrap_or_default(), str::to_owned),
    };
    let label = if code.is_empty() { error_type } else { code };
    let shown = match (label.is_empty(), message.is_empty()) {
        (true, true) => "The provider reported an error without a message".to_owned(),
        (true, false) => message,
        (false, true) => label,
        (false, false) => format!("{label}: {message}"),
    };
    // Clients and the session see only the text.
    let shown = match window {
        Some(window) if window_in(&shown).is_none() => {
            format!("{shown} (the context size is limited to {window} tokens)")
        }
        _ => shown,
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
    if let Some(error) = value.get("error").filter(|error| is_told(error)) {
        return Some(match error {
            Value::Bool(_) => event(value),
            Value::Number(status) => event(&with_code(value, status)),
            error => event_in(error, value),
        });
    }
    // Gateways also write such a text beside an answer.
    let has_report = (message_of(value).is_some() && !is_list(&value["choices"]))
        || ["errors", "detail"]
            .iter()
            .any(|name| is_list(&value[*name]))
        || value
            .pointer("/base_resp/status_code")
            .is_some_and(is_failure_code);
    has_report.then(|| event(value))
}

/// Returns a report whose error is only a number, with this number as its code.
fn with_code(value: &Value, status: &Number) -> Value {
    let mut members = value.as_object().cloned().unwrap_or_default();
    members
        .entry("code")
        .or_insert_with(|| Value::Number(status.clone()));
    Value::Object(members)
}

/// True for a list that is not empty.
fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|values| !values.is_empty())
}

/// True for a code other than 0, which reports success.
fn is_failure_code(code: &Value) -> bool {
    code.as_i64().is_some_and(|code| code != 0)
}

/// True if the member `error` reports one. Some servers always write the member.
pub(super) fn is_told(error: &Value) -> bool {
    match error {
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Array(errors) => errors.iter().any(is_told),
        Value::Bool(is_error) => *is_error,
        Value::Number(status) => status.as_i64() != Some(0),
        Value::Null => false,
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
    const NAMES: [&str; 9] = [
        "message",
        "detail",
        "msg",
        "error_message",
        "errorMessage",
        "error_msg",
        "errorMsg",
        "error_description",
        "Message",
    ];
    let text = |name: &&str| error.get(*name)?.as_str().filter(|text| !text.is_empty());
    NAMES.iter().find_map(text)
}
