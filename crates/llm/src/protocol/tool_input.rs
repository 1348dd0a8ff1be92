//! The input of tool calls, which arrives as pieces of text.

use serde_json::{Map, Value};

use super::framed::Sink;
use super::surrogates;
use crate::canonical::error::LlmError;
use crate::lifecycle::MAX_TOOL_CALLS;
use crate::sse::MAX_FRAME_BYTES;

/// Maximum input of all calls of a step, in bytes. Input is held until a call is complete; together
/// the calls may hold as much as one frame.
const MAX_INPUT_BYTES: usize = MAX_FRAME_BYTES;

/// Fails if a step has more calls or more input than any step needs.
pub(super) fn check_size(calls: usize, bytes: usize, sink: &Sink<'_>) -> Result<(), LlmError> {
    if calls <= MAX_TOOL_CALLS && bytes <= MAX_INPUT_BYTES {
        return Ok(());
    }
    let problem = format!("Too much tool input in one step from {}", sink.route());
    Err(LlmError::invalid_output(sink.route(), problem))
}

/// Parses the input of a complete call. Empty input becomes an empty object.
pub(super) fn parse(
    text: &str,
    tool: &str,
    protocol: &str,
    sink: &Sink<'_>,
) -> Result<Value, LlmError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    surrogates::parse(text.as_bytes()).map_err(|_| {
        let problem = format!("Invalid JSON input for {protocol} tool call {tool}");
        LlmError::undecodable(sink.route(), problem, text.as_bytes())
    })
}
