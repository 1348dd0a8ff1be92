//! Answers with many fragments of text, in the format of each protocol.

use opencode_llm::ProtocolId;
use serde_json::{Value, json};

use crate::event_stream;

/// The text of each fragment.
const TEXT: &str = " a few words";

/// Returns an answer with this number of fragments.
pub(crate) fn of(protocol: ProtocolId, fragments: usize) -> Vec<u8> {
    match protocol {
        ProtocolId::OpenAiChat => openai_chat(fragments),
        ProtocolId::OpenAiResponses => openai_responses(fragments),
        ProtocolId::AnthropicMessages => anthropic(fragments),
        ProtocolId::Gemini => gemini(fragments),
        ProtocolId::BedrockConverse => bedrock(fragments),
        ProtocolId::Program(_) => panic!("models of the program have no bytes"),
    }
}

/// A server-sent event.
fn event(name: Option<&str>, data: &Value) -> Vec<u8> {
    let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
    format!("{name}data: {data}\n\n").into_bytes()
}

fn openai_chat(fragments: usize) -> Vec<u8> {
    let chunk = |choice: Value| {
        let base = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"});
        let mut chunk = base;
        chunk["choices"] = json!([choice]);
        event(None, &chunk)
    };
    let delta = json!({"index": 0, "delta": {"content": TEXT}, "finish_reason": null});
    let end = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
    let mut bytes = chunk(delta).repeat(fragments);
    bytes.extend(chunk(end));
    bytes.extend(b"data: [DONE]\n\n");
    bytes
}

fn openai_responses(fragments: usize) -> Vec<u8> {
    let named = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        event(Some(kind), &data)
    };
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []});
    let delta = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": TEXT});
    let response = json!({"id": "resp_1", "status": "completed", "output": [], "usage": null});
    let mut bytes = named(
        "response.output_item.added",
        json!({"output_index": 0, "item": message}),
    );
    bytes.extend(named("response.output_text.delta", delta).repeat(fragments));
    bytes.extend(named(
        "response.output_item.done",
        json!({"output_index": 0, "item": message}),
    ));
    bytes.extend(named("response.completed", json!({"response": response})));
    bytes
}

fn anthropic(fragments: usize) -> Vec<u8> {
    let named = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        event(Some(kind), &data)
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage});
    let delta = json!({"index": 0, "delta": {"type": "text_delta", "text": TEXT}});
    let mut bytes = named("message_start", json!({"message": message}));
    bytes.extend(named(
        "content_block_start",
        json!({"index": 0, "content_block": {"type": "text", "text": ""}}),
    ));
    bytes.extend(named("content_block_delta", delta).repeat(fragments));
    bytes.extend(named("content_block_stop", json!({"index": 0})));
    bytes.extend(named(
        "message_delta",
        json!({"delta": {"stop_reason": "end_turn"}, "usage": usage}),
    ));
    bytes.extend(named("message_stop", json!({})));
    bytes
}

fn gemini(fragments: usize) -> Vec<u8> {
    let chunk = |candidate: Value| {
        let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5});
        let chunk = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro"});
        format!("data: {chunk}\r\n\r\n").into_bytes()
    };
    let content = |text: &str| json!({"role": "model", "parts": [{"text": text}]});
    let mut bytes = chunk(json!({"index": 0, "content": content(TEXT)})).repeat(fragments);
    bytes.extend(chunk(
        json!({"index": 0, "content": content(""), "finishReason": "STOP"}),
    ));
    bytes
}

fn bedrock(fragments: usize) -> Vec<u8> {
    let frame = |name: &str, payload: Value| {
        let headers = [
            (":message-type", "event"),
            (":event-type", name),
            (":content-type", "application/json"),
        ];
        event_stream::frame(&headers, payload.to_string())
    };
    let delta = json!({"contentBlockIndex": 0, "delta": {"text": TEXT}});
    let mut bytes = frame("messageStart", json!({"role": "assistant"}));
    bytes.extend(frame("contentBlockDelta", delta).repeat(fragments));
    bytes.extend(frame("contentBlockStop", json!({"contentBlockIndex": 0})));
    bytes.extend(frame("messageStop", json!({"stopReason": "end_turn"})));
    bytes
}
