//! Runs a decoder to its end.

use opencode_llm::{LlmError, LlmEvent};
use opencode_protocols::Decoder;

pub(crate) type Outcome = (Vec<LlmEvent>, Result<(), LlmError>);

/// Returns the events of an answer, and its failure. An answer ends at its first failure.
pub(crate) fn decode_by<'a>(
    mut decoder: Box<dyn Decoder>,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let mut events = Vec::new();
    for chunk in chunks {
        if let Err(error) = decoder.push(chunk, &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.end(&mut events);
    (events, end)
}
