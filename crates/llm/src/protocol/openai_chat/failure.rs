//! Failures that a server reports inside its stream.

use serde_json::Value;
use serde_json::value::RawValue;

use super::chunk::Chunk;
use crate::canonical::event::LlmEvent;
use crate::protocol::{failure, surrogates};

/// Returns the failure that a chunk reports, in its `error` member or as the whole chunk.
pub(super) fn reported(chunk: &Chunk<'_>, data: &[u8]) -> Option<LlmEvent> {
    let is_told = |error: &&RawValue| !matches!(error.get(), r#""""# | "{}" | "[]" | "false" | "0");
    let in_member = chunk.error.as_ref().is_some_and(is_told);
    let choice = chunk.choices.0.as_ref();
    if let Some(error) = choice.and_then(|choice| choice.error).filter(is_told) {
        let error: Value = surrogates::parse(error.get().as_bytes()).ok()?;
        return Some(failure::event(&error));
    }
    let is_bare = choice.is_none() && chunk.usage().is_none();
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
    let is_failure = chunk.get("object").is_some_and(|object| object == "error")
        || marks.iter().any(|mark| chunk.get(mark).is_some());
    is_failure.then(|| failure::reported(&chunk))?
}
