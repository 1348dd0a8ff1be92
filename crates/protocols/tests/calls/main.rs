//! Calls with mistakes of models and servers, in every protocol: they concern the call alone.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

#[path = "../common/event_stream.rs"]
mod event_stream;
mod identity;
mod input;
mod names;
mod properties;
mod requests;
#[path = "../common/run.rs"]
mod run;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use opencode_llm::{
    CallProblem, LlmEvent, LlmRequest, ProtocolId, ResolvedModel, Sources, ToolDefinition,
};
use opencode_protocols::{self as protocol, Decoder};
use serde_json::{Value, json};

use self::run::{Outcome, decode_by};
use self::wire::Wire;

/// The protocols in which a model writes the input as text.
const WITH_TEXT: [Wire; 5] = [
    Wire::Chat,
    Wire::Responses,
    Wire::Anthropic,
    Wire::Bedrock,
    Wire::Program,
];

const ALL: [Wire; 6] = [
    Wire::Chat,
    Wire::Responses,
    Wire::Anthropic,
    Wire::Bedrock,
    Wire::Gemini,
    Wire::Program,
];

fn model(wire: Wire) -> ResolvedModel {
    let protocol = match wire {
        Wire::Chat => ProtocolId::OpenAiChat,
        Wire::Responses => ProtocolId::OpenAiResponses,
        Wire::Anthropic => ProtocolId::AnthropicMessages,
        Wire::Bedrock => ProtocolId::BedrockConverse,
        Wire::Gemini => ProtocolId::Gemini,
        Wire::Program => ProtocolId::Program(7),
    };
    ResolvedModel::new("mock", "m1", protocol, "http://localhost")
}

fn request(wire: Wire) -> LlmRequest {
    let mut request = LlmRequest::new(Arc::new(model(wire)));
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: "d".to_owned(),
        input_schema: json!({"type": "object", "properties": {}}).into(),
    };
    request.tools = ["bash", "read", "reread", "read_all"].map(tool).into();
    request
}

fn decoder(wire: Wire) -> Box<dyn Decoder> {
    let counter = Arc::new(AtomicU64::new(0));
    let sources = Sources::new(
        move || counter.fetch_add(1, Ordering::Relaxed),
        || SystemTime::UNIX_EPOCH,
    );
    protocol::adapter(model(wire).protocol).decoder(&request(wire), &sources)
}

fn decode(wire: Wire, bytes: &[u8]) -> Outcome {
    decode_by(decoder(wire), [bytes])
}

/// Returns the calls of an answer that ends regularly: identifier, name, and input or problem.
fn calls(wire: Wire, bytes: &[u8]) -> Vec<(String, String, Result<Value, String>)> {
    let (events, end) = decode(wire, bytes);
    assert_eq!(end, Ok(()), "{wire:?} {events:?}");
    calls_of(&events)
}

fn calls_of(events: &[LlmEvent]) -> Vec<(String, String, Result<Value, String>)> {
    let call = |event: &LlmEvent| match event {
        LlmEvent::ToolCall {
            id, name, input, ..
        } => Some((id.to_string(), name.to_string(), Ok(input.clone()))),
        LlmEvent::InvalidToolCall {
            id, name, problem, ..
        } => {
            let problem = match problem {
                CallProblem::Name(reason) | CallProblem::Input { reason, .. } => reason.clone(),
            };
            Some((id.to_string(), name.to_string(), Err(problem)))
        }
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

fn read(id: &str, input: Value) -> (String, String, Result<Value, String>) {
    (id.to_owned(), "read".to_owned(), Ok(input))
}
