//! Encoding of canonical requests for OpenAI Chat Completions.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

#[path = "../common/growing.rs"]
mod growing;
mod parts;
mod prefix;
mod servers;
mod settings;

use std::sync::Arc;

use opencode_llm::{
    Auth, Capabilities, GenerationControls, JsonMap, LlmError, LlmRequest, Media, Message, Part,
    PrefixCache, ProtocolId, ReasoningPart, ResolvedModel, Role, SystemPart, SystemRole,
    ToolCallPart, ToolChoice, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue,
};
use opencode_protocols::{self as protocol};
use opencode_secrets::Secret;
use serde_json::{Value, json};

const PNG: &str = "iVBORw0KGgo=";

/// The beginning of a PDF document.
const PDF: &str = "JVBERi0xLjc=";

fn model(change: impl FnOnce(&mut ResolvedModel)) -> Arc<ResolvedModel> {
    let mut model = ResolvedModel::new(
        "mock",
        "m1",
        ProtocolId::OpenAiChat,
        "http://localhost:1/v1",
    );
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

fn bytes(request: &LlmRequest) -> Vec<u8> {
    let wire = protocol::adapter(ProtocolId::OpenAiChat)
        .encode(request)
        .unwrap();
    assert_eq!(wire.path, "/chat/completions");
    assert_eq!((wire.headers, wire.lists), (vec![], vec![]));
    wire.body
}

fn body(request: &LlmRequest) -> Value {
    serde_json::from_slice(&bytes(request)).unwrap()
}

fn wire_messages(messages: Vec<Message>) -> Value {
    body(&request(messages))["messages"].clone()
}

fn refusal(request: &LlmRequest) -> LlmError {
    protocol::adapter(ProtocolId::OpenAiChat)
        .encode(request)
        .unwrap_err()
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

fn result(id: &str, result: ToolResultValue) -> Part {
    Part::ToolResult(ToolResultPart {
        id: id.into(),
        name: "read".into(),
        result,
        provider_executed: false,
        provider_metadata: None,
    })
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

fn file(mime: &str) -> ToolContent {
    ToolContent::File {
        uri: format!("data:{mime};base64,{PNG}"),
        mime: mime.into(),
        name: Some("shot".into()),
    }
}

fn image_part() -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}})
}

fn text(text: &str) -> ToolContent {
    ToolContent::Text { text: text.into() }
}

fn tool_turn() -> Vec<Message> {
    vec![
        Message::user([Part::text("read")]),
        Message::assistant([
            reasoning("Let me.", None),
            Part::text("Reading."),
            call("call_1", json!({"path": "hello.txt"})),
        ]),
        Message::tool([result("call_1", ToolResultValue::Json(json!({"uri": "x"})))]),
    ]
}

#[test]
fn a_tool_turn_is_written_byte_for_byte() {
    let mut request = request_to(
        model(|model| {
            model.body = map(json!({"foo": "bar", "reasoning_effort": "low"}));
        }),
        tool_turn(),
    );
    request.system = vec![
        SystemPart::new("Be brief."),
        SystemPart::new(""),
        SystemPart::new("ü"),
    ];
    let expected = concat!(
        r#"{"model":"m1","messages":[{"role":"system","content":"Be brief.\nü"},"#,
        r#"{"role":"user","content":"read"},"#,
        r#"{"role":"assistant","content":"Reading.","tool_calls":[{"id":"call_1","type":"function","#,
        r#""function":{"name":"read","arguments":"{\"path\":\"hello.txt\"}"}}],"reasoning_content":"Let me."},"#,
        r#"{"role":"tool","tool_call_id":"call_1","content":"{\"uri\":\"x\"}"}],"#,
        r#""stream":true,"stream_options":{"include_usage":true},"foo":"bar","reasoning_effort":"low"}"#,
    );
    assert_eq!(String::from_utf8(bytes(&request)).unwrap(), expected);
}
