//! Anthropic Messages: encoding of canonical requests and decoding of streams.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod decode;
mod failures;
#[path = "../common/growing.rs"]
mod growing;
mod hosted;
mod messages;
#[path = "../common/outcome.rs"]
mod outcome;
mod prefix;
#[path = "../common/run.rs"]
mod run;
mod settings;
mod surrogates;

use std::sync::Arc;

use opencode_llm::{
    Capabilities, JsonMap, LlmEvent, LlmRequest, Media, Message, Part, ProtocolId, ReasoningPart,
    ResolvedModel, Sources, SystemPart, TextPart, ToolCallPart, ToolChoice, ToolContent,
    ToolDefinition, ToolResultPart, ToolResultValue,
};
use opencode_protocols::{self as protocol, Decoder, WireRequest};
use serde_json::{Value, json};

use self::run::{Outcome, decode_by};

const PNG: &str = "iVBORw0KGgo=";

/// The beginning of a PDF document.
const PDF: &str = "JVBERi0xLjc=";

fn model(change: impl FnOnce(&mut ResolvedModel)) -> Arc<ResolvedModel> {
    let base = "http://localhost:1/v1";
    let mut model = ResolvedModel::new("mock", "claude", ProtocolId::AnthropicMessages, base);
    model.limits.output = 8000;
    change(&mut model);
    Arc::new(model)
}

fn request(messages: Vec<Message>) -> LlmRequest {
    request_to(model(|_| {}), messages)
}

fn request_to(model: Arc<ResolvedModel>, messages: Vec<Message>) -> LlmRequest {
    LlmRequest {
        messages: messages.into(),
        ..LlmRequest::new(model)
    }
}

/// A request with options of the protocol.
fn request_with(options: Value, messages: Vec<Message>) -> LlmRequest {
    LlmRequest {
        provider_options: map(json!({"anthropic": options})),
        ..request(messages)
    }
}

fn wire(request: &LlmRequest) -> WireRequest {
    protocol::adapter(ProtocolId::AnthropicMessages)
        .encode(request)
        .unwrap()
}

fn text_of(request: &LlmRequest) -> String {
    String::from_utf8(wire(request).body).unwrap()
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&wire(request).body).unwrap()
}

/// Returns the messages without cache marks.
fn wire_messages(request: &LlmRequest) -> Value {
    let mut unmarked = request.clone();
    unmarked.provider_options = map(json!({"anthropic": {"cache": "none"}}));
    body(&unmarked)["messages"].take()
}

fn refusal(request: &LlmRequest) -> String {
    let refused = protocol::adapter(ProtocolId::AnthropicMessages).encode(request);
    refused.unwrap_err().to_string()
}

fn map(value: Value) -> JsonMap {
    value.as_object().unwrap().clone()
}

fn call(id: &str, input: Value) -> Part {
    Part::ToolCall(ToolCallPart {
        id: id.into(),
        name: "read".into(),
        input,
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

fn page() -> Value {
    json!({"type": "web_search_result", "title": "T", "url": "https://a.test", "encrypted_content": "e", "page_age": null})
}

fn hosted(id: &str, metadata: Option<Value>) -> [Part; 2] {
    [
        Part::ToolCall(ToolCallPart {
            id: id.into(),
            name: "web_search".into(),
            input: json!({"query": "x"}),
            provider_executed: true,
            provider_metadata: None,
        }),
        Part::ToolResult(ToolResultPart {
            id: id.into(),
            name: "web_search".into(),
            result: ToolResultValue::Json(json!([page()])),
            provider_executed: true,
            provider_metadata: metadata.map(map).map(Box::new),
        }),
    ]
}

fn reasoning(text: &str, metadata: Option<Value>) -> Part {
    Part::Reasoning(ReasoningPart {
        text: text.into(),
        provider_metadata: metadata.map(map).map(Box::new),
    })
}

fn media(media_type: &str, data: &str, filename: Option<&str>) -> Part {
    Part::Media(Media {
        media_type: media_type.into(),
        data: data.into(),
        filename: filename.map(str::to_owned),
    })
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: "d".into(),
        input_schema: json!({"$schema": "x", "type": "object", "properties": {"a": {"anyOf": [{"type": "null"}]}}}).into(),
    }
}

fn assistant_text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_turn() -> Vec<Message> {
    vec![
        Message::user([Part::text("read it")]),
        Message::assistant([
            reasoning(
                "I should.",
                Some(json!({"anthropic": {"signature": "SIG"}})),
            ),
            Part::text("Reading."),
            call("toolu_1", json!({"path": "hello.txt"})),
        ]),
        result("toolu_1", ToolResultValue::Json(json!({"uri": "x"}))),
    ]
}

// Streams.

fn decoder() -> Box<dyn Decoder> {
    let request = LlmRequest::new(model(|_| {}));
    protocol::adapter(ProtocolId::AnthropicMessages)
        .decoder(&request, &Sources::new(|| 0, || std::time::UNIX_EPOCH))
}

fn decode(chunks: &[&[u8]]) -> Outcome {
    decode_by(decoder(), chunks.iter().copied())
}

fn sse(events: &[Value]) -> String {
    let frame = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(frame).collect()
}

fn events_of(events: &[Value]) -> Vec<LlmEvent> {
    let (events, end) = decode(&[sse(events).as_bytes()]);
    assert_eq!(end, Ok(()), "{events:?}");
    events
}

fn message_start() -> Value {
    json!({"type": "message_start", "message": {"usage": {"input_tokens": 100, "output_tokens": 1}}})
}

fn start(index: i64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: i64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: i64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 10}})
}

/// Thinking, text and a call, as the provider sends them.
fn turn() -> Vec<Value> {
    vec![
        message_start(),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(
            0,
            json!({"type": "thinking_delta", "thinking": "I should."}),
        ),
        delta(0, json!({"type": "signature_delta", "signature": "SIG"})),
        stop(0),
        start(1, assistant_text("")),
        json!({"type": "ping"}),
        delta(1, json!({"type": "text_delta", "text": "Rea"})),
        delta(1, json!({"type": "text_delta", "text": "ding ü."})),
        stop(1),
        start(
            2,
            json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}),
        ),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            2,
            json!({"type": "input_json_delta", "partial_json": "{\"path\":"}),
        ),
        delta(
            2,
            json!({"type": "input_json_delta", "partial_json": "\"a\"}"}),
        ),
        stop(2),
        end("tool_use"),
        json!({"type": "message_stop"}),
    ]
}
