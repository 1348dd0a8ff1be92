//! OpenAI Responses: encoding of canonical requests and decoding of streams.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod decode;
mod failures;
#[path = "../common/growing.rs"]
mod growing;
mod items;
#[path = "../common/outcome.rs"]
mod outcome;
mod prefix;
#[path = "../common/run.rs"]
mod run;
mod settings;
mod surrogates;
mod tolerance;

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
    let mut model = ResolvedModel::new("mock", "gpt", ProtocolId::OpenAiResponses, base);
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
        provider_options: map(json!({"openai": options})),
        ..request(messages)
    }
}

fn wire(request: &LlmRequest) -> WireRequest {
    protocol::adapter(ProtocolId::OpenAiResponses)
        .encode(request)
        .unwrap()
}

fn text_of(request: &LlmRequest) -> String {
    String::from_utf8(wire(request).body).unwrap()
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&wire(request).body).unwrap()
}

/// Returns the items of the input.
fn items(request: &LlmRequest) -> Value {
    body(request)["input"].take()
}

fn refusal(request: &LlmRequest) -> String {
    let refused = protocol::adapter(ProtocolId::OpenAiResponses).encode(request);
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

fn attached(members: Value) -> Option<Box<JsonMap>> {
    Some(Box::new(map(json!({"openai": members}))))
}

fn hosted(id: &str, item: Value) -> [Part; 2] {
    [
        Part::ToolCall(ToolCallPart {
            id: id.into(),
            name: "web_search".into(),
            input: json!({}),
            provider_executed: true,
            provider_metadata: attached(json!({"itemId": id})),
        }),
        Part::ToolResult(ToolResultPart {
            id: id.into(),
            name: "web_search".into(),
            result: ToolResultValue::Json(item),
            provider_executed: true,
            provider_metadata: attached(json!({"itemId": id})),
        }),
    ]
}

fn reasoning(text: &str, metadata: Option<Value>) -> Part {
    Part::Reasoning(ReasoningPart {
        text: text.into(),
        provider_metadata: metadata.map(map).map(Box::new),
    })
}

fn thought(text: &str, id: &str, sealed: Option<&str>) -> Part {
    reasoning(
        text,
        Some(json!({"openai": {"itemId": id, "reasoningEncryptedContent": sealed}})),
    )
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
        input_schema: json!({"$schema": "x", "type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}).into(),
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn tool_turn() -> Vec<Message> {
    vec![
        Message::user([Part::text("read it")]),
        Message::assistant([
            thought("I should.", "rs_1", Some("ENC")),
            Part::text("Reading."),
            call("call_1", json!({"path": "hello.txt"})),
        ]),
        result("call_1", ToolResultValue::Json(json!({"uri": "x"}))),
    ]
}

// Streams.

fn decoder_of(options: Value) -> Box<dyn Decoder> {
    let request = request_with(options, vec![]);
    protocol::adapter(ProtocolId::OpenAiResponses)
        .decoder(&request, &Sources::new(|| 0, || std::time::UNIX_EPOCH))
}

fn decode(chunks: &[&[u8]]) -> Outcome {
    decode_by(decoder_of(json!({})), chunks.iter().copied())
}

fn sse(events: &[Value]) -> String {
    let frame = |event: &Value| format!("data: {event}\n\n");
    events.iter().map(frame).collect()
}

fn events_with(options: Value, events: &[Value]) -> Vec<LlmEvent> {
    let (events, end) = decode_by(decoder_of(options), [sse(events).as_bytes()]);
    assert_eq!(end, Ok(()), "{events:?}");
    events
}

fn events_of(events: &[Value]) -> Vec<LlmEvent> {
    events_with(json!({}), events)
}

fn added(item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": 0, "item": item})
}

fn done(item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": 0, "item": item})
}

fn more(kind: &str, item: &str, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "item_id": item, "summary_index": 0, "delta": delta})
}

fn part(kind: &str, item: &str, index: u32) -> Value {
    json!({"type": format!("response.reasoning_summary_part.{kind}"), "item_id": item, "summary_index": index})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"id": "resp_1", "usage": {"input_tokens": 100, "output_tokens": 10}}})
}

fn function_call(arguments: &str) -> Value {
    json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read", "arguments": arguments})
}

/// Reasoning, text and a call, as the provider sends them.
fn turn() -> Vec<Value> {
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        added(json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": null})),
        part("added", "rs_1", 0),
        more("reasoning_summary_text", "rs_1", "I should."),
        json!({"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "text": "I should."}),
        part("done", "rs_1", 0),
        done(json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "ENC"})),
        added(json!({"id": "ms_1", "type": "message", "phase": "commentary"})),
        more("output_text", "ms_1", "Rea"),
        more("output_text", "ms_1", "ding ü."),
        json!({"type": "response.output_text.done", "item_id": "ms_1", "text": "Reading ü."}),
        done(json!({"id": "ms_1", "type": "message"})),
        added(function_call("")),
        more("function_call_arguments", "fc_1", "{\"path\":"),
        more("function_call_arguments", "fc_1", "\"a\"}"),
        done(function_call("{\"path\":\"a\"}")),
        completed(),
    ]
}
