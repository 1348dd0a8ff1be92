//! The input of tool calls, which arrives as pieces of text.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::lifecycle::{MAX_DEPTH, MAX_TOOL_CALLS, is_within};
use opencode_llm::surrogates;
use serde_json::{Map, Value};

use super::framed::Sink;
use super::repaired_input::{self, trimmed};
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

/// Reads the input of a complete call. Empty input becomes an empty object. Input with a certain
/// repair is repaired; no value is ever guessed.
///
/// Fails with the reason, which repeats nothing of the input.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let text = trimmed(text);
    if text.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let read = surrogates::parse(text.as_bytes());
    let value = read.or_else(|error| repaired_input::read(text).ok_or_else(|| error.to_string()));
    value.and_then(checked)
}

/// Fails if the input cannot be stored.
pub(super) fn checked(input: Value) -> Result<Value, String> {
    match is_within(&input, MAX_DEPTH) {
        true => Ok(input),
        false => Err(format!("it is nested more than {MAX_DEPTH} levels deep")),
    }
}
