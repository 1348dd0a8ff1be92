//! Gemini: encoding of canonical requests and decoding of streams.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod decode;
mod encode;
#[path = "../common/growing.rs"]
mod growing;
#[path = "../common/outcome.rs"]
mod outcome;
mod prefix;
mod properties;

use std::sync::Arc;
use std::time::SystemTime;

use opencode_llm::{
    Capabilities, FinishReason, JsonMap, LlmError, LlmEvent, LlmRequest, Media, Message,
    OutputFormat, Part, ProtocolId, ReasoningPart, ResolvedModel, Sources, SystemPart, TextPart,
    ToolCallPart, ToolChoice, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue,
};
use opencode_protocols::{self as protocol, Decoder, WireRequest};
use serde_json::{Value, json};

const PNG: &str = "iVBORw0KGgo=";

/// The beginning of a PDF document.
const PDF: &str = "JVBERi0xLjc=";

fn model(id: &str) -> Arc<ResolvedModel> {
    let base = "http://localhost:1/v1beta";
    let mut model = ResolvedModel::new("google", id, ProtocolId::Gemini, base);
    model.capabilities = Capabilities {
        tools: true,
        input: vec!["text".into(), "image".into(), "pdf".into(), "audio".into()],
        ..Capabilities::default()
    };
    Arc::new(model)
}

fn request(messages: Vec<Message>) -> LlmRequest {
    request_to("gemini-3-pro-preview", messages)
}

fn request_to(id: &str, messages: Vec<Message>) -> LlmRequest {
    LlmRequest {
        messages: messages.into(),
        ..LlmRequest::new(model(id))
    }
}

fn wire(request: &LlmRequest) -> WireRequest {
    protocol::adapter(ProtocolId::Gemini)
        .encode(request)
        .unwrap()
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&wire(request).body).unwrap()
}

fn contents(request: &LlmRequest) -> Value {
    body(request)["contents"].take()
}

fn map(value: Value) -> JsonMap {
    value.as_object().unwrap().clone()
}

fn google(members: Value) -> Option<opencode_llm::ProviderMetadata> {
    Some(Box::new(map(json!({"google": members}))))
}

fn call(id: &str, metadata: Option<Value>) -> Part {
    Part::ToolCall(ToolCallPart {
        id: id.into(),
        name: "read".into(),
        input: json!({"path": "a"}),
        provider_executed: false,
        provider_metadata: metadata.and_then(google),
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

fn text(text: &str, signature: Option<&str>) -> Part {
    Part::Text(TextPart {
        text: text.into(),
        provider_metadata: signature.and_then(|it| google(json!({"thoughtSignature": it}))),
    })
}

fn image() -> ToolContent {
    ToolContent::File {
        uri: format!("data:image/png;base64,{PNG}"),
        mime: "image/png".into(),
        name: None,
    }
}

fn tool(schema: Value) -> ToolDefinition {
    ToolDefinition {
        name: "read".into(),
        description: "d".into(),
        input_schema: schema.into(),
    }
}

// Streams.

fn decoder() -> Box<dyn Decoder> {
    let request = LlmRequest::new(model("gemini-2.5-pro"));
    let sources = Sources::new(|| 0, || SystemTime::UNIX_EPOCH);
    protocol::adapter(ProtocolId::Gemini).decoder(&request, &sources)
}

fn sse(frames: &[Value]) -> String {
    frames
        .iter()
        .map(|it| format!("data: {it}\r\n\r\n"))
        .collect()
}

fn decode(frames: &[Value]) -> (Vec<LlmEvent>, Result<(), LlmError>) {
    let mut decoder = decoder();
    let mut events = Vec::new();
    let outcome = decoder.push(sse(frames).as_bytes(), &mut events);
    let outcome = outcome.and_then(|()| decoder.end(&mut events));
    (events, outcome)
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn stop(reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    })
}

/// Thoughts, a text and a signed call, as the provider sends them.
fn turn() -> Vec<Value> {
    vec![
        parts(json!([{"text": "I should.", "thought": true}])),
        parts(json!([{"text": "Rea"}])),
        parts(json!([{"text": "ding ü."}])),
        parts(json!([
            {"functionCall": {"name": "read", "args": {"path": "a"}, "id": "fc_1"}, "thoughtSignature": "SIG"},
            {"functionCall": {"name": "list", "args": {}}},
        ])),
        stop("STOP"),
    ]
}
