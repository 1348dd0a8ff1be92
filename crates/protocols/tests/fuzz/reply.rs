//! Properties of a decoded reply. The fuzzing targets include this file too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use opencode_llm::sources::Sources;
use opencode_llm::{LlmEvent, LlmRequest, ProtocolId, ResolvedModel};
use opencode_protocols::{self as protocol, Decoder};

/// Maximum number of event text bytes per byte of the body. Events may repeat names and
/// identifiers, but their texts come from the body.
const TEXT_PER_BYTE: usize = 8;

/// Checks an input. Its first byte is the chunk size; the rest is the body.
pub(crate) fn check(protocol: ProtocolId, input: &[u8]) {
    let Some((chunk, body)) = input.split_first() else {
        return;
    };
    let whole = decode(decoder(protocol), [body].into_iter());
    check_outcome(&whole, body.len());
    let chunks = body.chunks(usize::from(*chunk).max(1));
    let pieces = decode(decoder(protocol), chunks);
    check_outcome(&pieces, body.len());
    assert_eq!(whole, pieces, "chunks change the reply");
}

#[derive(Debug, PartialEq)]
struct Reply {
    events: Vec<LlmEvent>,
    failures: Vec<String>,
}

fn decoder(protocol: ProtocolId) -> Box<dyn Decoder> {
    let model = ResolvedModel::new("fuzz", "model", protocol, "http://127.0.0.1/v1");
    let request = LlmRequest::new(Arc::new(model));
    let ids = AtomicU64::new(0);
    let next = move || ids.fetch_add(1, Ordering::Relaxed);
    let sources = Sources::new(next, || SystemTime::UNIX_EPOCH);
    protocol::adapter(protocol).decoder(&request, &sources)
}

fn decode<'a>(mut decoder: Box<dyn Decoder>, chunks: impl Iterator<Item = &'a [u8]>) -> Reply {
    let mut events = Vec::new();
    let mut failures = Vec::new();
    for chunk in chunks {
        failures.extend(decoder.push(chunk, &mut events).err());
    }
    failures.extend(decoder.end(&mut events).err());
    assert!(decoder.is_over(), "the end of the body ends the reply");
    Reply {
        events,
        failures: failures.iter().map(ToString::to_string).collect(),
    }
}

fn check_outcome(reply: &Reply, body: usize) {
    let terminal = |event: &&LlmEvent| event.is_terminal();
    let terminals = reply.events.iter().filter(terminal).count();
    assert_eq!(terminals + reply.failures.len(), 1, "one outcome");
    assert!(terminals == 0 || reply.events.last().is_some_and(LlmEvent::is_terminal));
    let text: usize = reply.events.iter().filter_map(delta).map(str::len).sum();
    assert!(text <= body * TEXT_PER_BYTE, "{text} bytes out of {body}");
}

fn delta(event: &LlmEvent) -> Option<&str> {
    match event {
        LlmEvent::TextDelta { text, .. }
        | LlmEvent::ReasoningDelta { text, .. }
        | LlmEvent::ToolInputDelta { text, .. } => Some(text),
        _ => None,
    }
}
