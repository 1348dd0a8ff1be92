//! Failures that a server reports inside its stream.

use opencode_llm::canonical::event::LlmEvent;
use opencode_llm::surrogates;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::chunk::Chunk;
use crate::failure;

/// Returns the failure in the outcome of a request. The code of a success is 0.
fn outcome(outcome: &RawValue) -> Option<LlmEvent> {
    let outcome: Value = surrogates::parse(outcome.get().as_bytes()).ok()?;
    let code = outcome.get("status_code")?;
    let is_success = code.is_null() || matches!(code.to_string().as_str(), "0" | "\"0\"" | "\"\"");
    let message = outcome.get("status_msg").cloned().unwrap_or_default();
    (!is_success).then(|| failure::event(&json!({"code": code, "message": message})))
}

/// Returns the failure that a chunk reports, in its `error` member or as the whole chunk.
pub(super) fn reported(chunk: &Chunk<'_>, data: &[u8]) -> Option<LlmEvent> {
    let is_told = |error: &&RawValue| !matches!(error.get(), r#""""# | "{}" | "[]" | "false" | "0");
    let in_member = chunk.error.as_ref().is_some_and(is_told);
    if let Some(failure) = chunk.base_resp.and_then(outcome) {
        return Some(failure);
    }
    let is_bare = chunk.choices.first.is_none() && chunk.usage().is_none();
    if !in_member && !is_bare {
        return None;
    }
    let chunk: Value = surrogates::parse(data).ok()?;
    if in_member {
        let reported = failure::reported(&chunk);
        return reported.or_else(|| Some(failure::event(chunk.get("error")?)));
    }
    // A chunk with a message alone may be a sign of life.
    let marks = ["code", "type", "status", "errors", "detail", "base_resp"];
    let is_success =
        |code: &Value| [0, 200].iter().any(|it| code == it) || code == "0" || code == "200";
    let is_failure = chunk.get("object").is_some_and(|object| object == "error")
        || marks
            .iter()
            .any(|mark| chunk.get(mark).is_some_and(|it| !is_success(it)));
    is_failure.then(|| failure::reported(&chunk))?
}
