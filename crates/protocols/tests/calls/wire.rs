//! The same answers in every protocol.

use serde_json::{Value, json};

use super::event_stream::frame;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Anthropic,
    Bedrock,
    Gemini,
    Program,
}

/// A call as a model writes it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    /// The pieces of its input.
    pub(crate) pieces: Vec<String>,
}

pub(crate) fn written(id: &str, name: &str, pieces: &[&str]) -> Written {
    Written {
        id: Some(id.to_owned()),
        name: Some(name.to_owned()),
        pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
    }
}

pub(crate) fn sse(frames: &[Value]) -> Vec<u8> {
    let frames = frames.iter().map(|frame| format!("data: {frame}\n\n"));
    frames.collect::<String>().into_bytes()
}

pub(crate) fn chunk(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

pub(crate) fn chat(deltas: &[Value], reason: &str) -> Vec<u8> {
    let mut frames: Vec<Value> = deltas
        .iter()
        .map(|call| chunk(json!({"tool_calls": [call]})))
        .collect();
    frames.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    let mut bytes = sse(&frames);
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    bytes
}

pub(crate) fn responses(events: &[Value], is_cut: bool) -> Vec<u8> {
    let end = match is_cut {
        true => {
            json!({"type": "response.incomplete", "response": {"id": "r", "incomplete_details": {"reason": "max_output_tokens"}}})
        }
        false => json!({"type": "response.completed", "response": {"id": "r"}}),
    };
    sse(&[events, &[end]].concat())
}

pub(crate) fn anthropic(events: &[Value], reason: &str) -> Vec<u8> {
    let start = json!({"type": "message_start", "message": {}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    sse(&[&[start], events, &[end, json!({"type": "message_stop"})]].concat())
}

pub(crate) fn bedrock(events: &[(&str, Value)], reason: &str) -> Vec<u8> {
    let stop = ("messageStop", json!({"stopReason": reason}));
    let events = events.iter().cloned().chain([stop]);
    let frames = events.map(|(kind, payload)| {
        let headers = [(":message-type", "event"), (":event-type", kind)];
        frame(&headers, payload.to_string())
    });
    frames.collect::<Vec<_>>().concat()
}

pub(crate) fn gemini(parts: &[Value]) -> Vec<u8> {
    sse(&[json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})])
}

pub(crate) fn program(events: &[Value], reason: &str) -> Vec<u8> {
    let end = json!({"type": "finish", "reason": reason});
    json!([events, &[end]].concat()).to_string().into_bytes()
}

/// Returns an answer that consists of these calls. With `is_cut`, the output limit ended it.
pub(crate) fn answer(wire: Wire, calls: &[Written], is_cut: bool) -> Vec<u8> {
    let numbered = calls.iter().enumerate();
    match wire {
        Wire::Chat => {
            let deltas = numbered.flat_map(|(n, call)| {
                let first = json!({"index": n, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}});
                let more = call.pieces.iter();
                let more = more.map(move |it| json!({"index": n, "function": {"arguments": it}}));
                std::iter::once(first).chain(more)
            });
            let reason = if is_cut { "length" } else { "tool_calls" };
            chat(&deltas.collect::<Vec<_>>(), reason)
        }
        Wire::Responses => {
            let events = numbered.flat_map(|(n, call)| {
                let item = |arguments: &str| json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": call.id,
                    "name": call.name, "arguments": arguments});
                let added = json!({"type": "response.output_item.added", "output_index": n, "item": item("")});
                let whole = item(&call.pieces.concat());
                let done = json!({"type": "response.output_item.done", "output_index": n, "item": whole});
                let more = call.pieces.iter();
                let more = more.map(move |it| json!({"type": "response.function_call_arguments.delta",
                    "output_index": n, "item_id": format!("fc_{n}"), "delta": it}));
                std::iter::once(added).chain(more).chain([done]).collect::<Vec<_>>()
            });
            responses(&events.collect::<Vec<_>>(), is_cut)
        }
        Wire::Anthropic => {
            let events = numbered.flat_map(|(n, call)| {
                let block =
                    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
                let start =
                    json!({"type": "content_block_start", "index": n, "content_block": block});
                let more = call.pieces.iter();
                let more = more.map(move |it| {
                    json!({"type": "content_block_delta", "index": n,
                    "delta": {"type": "input_json_delta", "partial_json": it}})
                });
                let stop = json!({"type": "content_block_stop", "index": n});
                std::iter::once(start).chain(more).chain([stop])
            });
            let reason = if is_cut { "max_tokens" } else { "tool_use" };
            anthropic(&events.collect::<Vec<_>>(), reason)
        }
        Wire::Bedrock => {
            let events = numbered.flat_map(|(n, call)| {
                let about = json!({"toolUseId": call.id, "name": call.name});
                let start = json!({"contentBlockIndex": n, "start": {"toolUse": about}});
                let more = call.pieces.iter();
                let more = more.map(move |it| {
                    let delta =
                        json!({"contentBlockIndex": n, "delta": {"toolUse": {"input": it}}});
                    ("contentBlockDelta", delta)
                });
                let stop = ("contentBlockStop", json!({"contentBlockIndex": n}));
                std::iter::once(("contentBlockStart", start))
                    .chain(more)
                    .chain([stop])
            });
            let reason = if is_cut { "max_tokens" } else { "tool_use" };
            bedrock(&events.collect::<Vec<_>>(), reason)
        }
        Wire::Gemini => {
            let parts = calls.iter().map(|call| {
                let args: Value = serde_json::from_str(&call.pieces.concat()).unwrap_or_default();
                json!({"functionCall": {"id": call.id, "name": call.name, "args": args}})
            });
            gemini(&parts.collect::<Vec<_>>())
        }
        Wire::Program => {
            let events = calls.iter().flat_map(|call| {
                let (id, name) = (call.id.clone().unwrap_or_default(), call.name.clone().unwrap_or_default());
                let start = json!({"type": "tool-input-start", "id": id, "name": name});
                let of = id.clone();
                let more = call.pieces.iter();
                let more = more.map(move |it| json!({"type": "tool-input-delta", "id": of, "text": it}));
                let end = json!({"type": "tool-input-end", "id": id});
                let made = json!({"type": "tool-call", "id": id, "name": name, "inputText": call.pieces.concat()});
                std::iter::once(start).chain(more).chain([end, made])
            });
            let reason = if is_cut { "length" } else { "tool-calls" };
            program(&events.collect::<Vec<_>>(), reason)
        }
    }
}
