//! Failures that a server reports inside its stream.

use serde_json::Value;

use super::chunk::Chunk;
use crate::canonical::event::LlmEvent;
use crate::protocol::{failure, surrogates};

/// Returns the failure that a chunk reports, in its `error` member or as the whole chunk.
pub(super) fn reported(chunk: &Chunk<'_>, data: &[u8]) -> Option<LlmEvent> {
    let in_member = chunk
        .error
        .is_some_and(|error| !matches!(error.get(), r#""""# | "{}" | "false"));
    let is_bare = chunk.choices.0.is_none() && chunk.usage.is_none();
    if !in_member && !is_bare {
        return None;
    }
    let chunk: Value = surrogates::parse(data).ok()?;
    if in_member {
        Some(failure::event(chunk.get("error")?))
    } else {
        let is_failure = chunk.get("object").is_some_and(|object| object == "error");
        is_failure.then(|| failure::event(&chunk))
    }
}
