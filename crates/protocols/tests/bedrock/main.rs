//! Amazon Bedrock: encoding of canonical requests and decoding of binary streams.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod decode;
mod encode;
#[path = "../common/event_stream.rs"]
mod event_stream;
#[path = "../common/growing.rs"]
mod growing;
#[path = "../common/outcome.rs"]
mod outcome;
mod prefix;
mod properties;

use std::sync::Arc;

use opencode_llm::{
    Capabilities, JsonMap, LlmError, LlmEvent, LlmRequest, Media, Message, Part, ProtocolId,
    ReasoningPart, ResolvedModel, Sources, SystemPart, ToolCallPart, ToolChoice, ToolContent,
    ToolDefinition, ToolResultPart, ToolResultValue,
};
use opencode_protocols::{self as protocol, Decoder, WireRequest};
use serde_json::{Value, json};

use event_stream::frame;

const PNG: &str = "iVBORw0KGgo=";

/// The beginning of a PDF document.
const PDF: &str = "JVBERi0xLjc=";
const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-v1:0";

fn model(id: &str) -> Arc<ResolvedModel> {
    let base = "http://localhost:1";
    let mut model = ResolvedModel::new("amazon-bedrock", id, ProtocolId::BedrockConverse, base);
    model.limits.output = 8000;
    model.capabilities = Capabilities {
        tools: true,
        input: vec!["text".into(), "image".into(), "pdf".into()],
        ..Capabilities::default()
    };
    Arc::new(model)
}

fn request(messages: Vec<Message>) -> LlmRequest {
    request_to(CLAUDE, messages)
}

fn request_to(id: &str, messages: Vec<Message>) -> LlmRequest {
    LlmRequest {
        messages: messages.into(),
        ..LlmRequest::new(model(id))
    }
}

fn wire(request: &LlmRequest) -> WireRequest {
    let adapter = protocol::adapter(ProtocolId::BedrockConverse);
    adapter.encode(request).unwrap()
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&wire(request).body).unwrap()
}

fn messages(request: &LlmRequest) -> Value {
    let mut unmarked = request.clone();
    unmarked.provider_options = map(json!({"bedrock": {"cache": "none"}}));
    body(&unmarked)["messages"].take()
}

fn map(value: Value) -> JsonMap {
    value.as_object().unwrap().clone()
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCallPart {
        id: id.into(),
        name: "read".into(),
        input: json!({"path": "a"}),
        provider_executed: false,
        provider_metadata: None,
    })
}

fn result(id: &str, result: ToolResultValue) -> Message {
    Message::tool([Part::ToolResult(ToolResultPart {
        id: id.into(),
        name: "read".into(),
        result,
        provider_executed: false,
        provider_metadata: None,
    })])
}

fn reasoning(text: &str, metadata: Value) -> Part {
    Part::Reasoning(ReasoningPart {
        text: text.into(),
        provider_metadata: Some(Box::new(map(json!({ "bedrock": metadata })))),
    })
}

fn tool() -> ToolDefinition {
    ToolDefinition {
        name: "read".into(),
        description: "d".into(),
        input_schema: json!({"type": "object"}).into(),
    }
}

// Streams.

fn event(name: &str, payload: Value) -> Vec<u8> {
    let headers = [
        (":message-type", "event"),
        (":event-type", name),
        (":content-type", "application/json"),
    ];
    frame(&headers, payload.to_string())
}

fn delta(index: u64, delta: Value) -> Vec<u8> {
    let payload = json!({"contentBlockIndex": index, "delta": delta, "p": "abc"});
    event("contentBlockDelta", payload)
}

fn stop(index: u64) -> Vec<u8> {
    event("contentBlockStop", json!({"contentBlockIndex": index}))
}

fn end(reason: &str) -> Vec<u8> {
    let usage = json!({"inputTokens": 40, "outputTokens": 10, "totalTokens": 150,
        "cacheReadInputTokens": 60, "cacheWriteInputTokens": 40});
    [
        event("messageStop", json!({"stopReason": reason})),
        event(
            "metadata",
            json!({"usage": usage, "metrics": {"latencyMs": 1}}),
        ),
    ]
    .concat()
}

/// Reasoning, a text and a call, as the provider sends them.
fn turn() -> Vec<u8> {
    let start = json!({"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "read"}}});
    [
        event("messageStart", json!({"role": "assistant"})),
        delta(0, json!({"reasoningContent": {"text": "I should."}})),
        delta(0, json!({"reasoningContent": {"signature": "SIG"}})),
        stop(0),
        delta(1, json!({"text": "Rea"})),
        delta(1, json!({"text": "ding ü."})),
        stop(1),
        event("contentBlockStart", start),
        delta(2, json!({"toolUse": {"input": "{\"path\":"}})),
        delta(2, json!({"toolUse": {"input": "\"a\"}"}})),
        stop(2),
        end("tool_use"),
    ]
    .concat()
}

fn decoder() -> Box<dyn Decoder> {
    let request = LlmRequest::new(model(CLAUDE));
    protocol::adapter(ProtocolId::BedrockConverse)
        .decoder(&request, &Sources::new(|| 0, || std::time::UNIX_EPOCH))
}

fn decode(wire: &[u8]) -> (Vec<LlmEvent>, Result<(), LlmError>) {
    let mut decoder = decoder();
    let mut events = Vec::new();
    let outcome = decoder.push(wire, &mut events);
    let outcome = outcome.and_then(|()| decoder.end(&mut events));
    (events, outcome)
}
