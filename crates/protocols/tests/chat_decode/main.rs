//! Decoding of an OpenAI Chat Completions stream.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod dialects;
mod failures;
#[path = "../common/outcome.rs"]
mod outcome;
mod properties;
mod replies;
#[path = "../common/run.rs"]
mod run;
mod servers;
mod surrogates;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use opencode_llm::{
    FinishReason, LlmError, LlmEvent, LlmRequest, ProtocolId, ResolvedModel, Sources, Usage,
};
use opencode_protocols::{self as protocol, Decoder};
use serde_json::{Value, json};

use self::run::{Outcome, decode_by};

fn decoder() -> Box<dyn Decoder> {
    let model = ResolvedModel::new("mock", "m1", ProtocolId::OpenAiChat, "http://localhost/v1");
    let counter = Arc::new(AtomicU64::new(0));
    let sources = Sources::new(
        move || counter.fetch_add(1, Ordering::Relaxed),
        || SystemTime::UNIX_EPOCH,
    );
    let request = LlmRequest::new(Arc::new(model));
    protocol::adapter(ProtocolId::OpenAiChat).decoder(&request, &sources)
}

fn decode(chunks: &[&[u8]]) -> Outcome {
    decode_by(decoder(), chunks.iter().copied())
}

/// Returns a stream of chunks with `[DONE]` at the end.
fn sse(chunks: &[Value]) -> String {
    let mut text: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    text.push_str("data: [DONE]\n\n");
    text
}

fn events_of(chunks: &[Value]) -> Vec<LlmEvent> {
    let (events, end) = decode(&[sse(chunks).as_bytes()]);
    assert_eq!(end, Ok(()), "{events:?}");
    events
}

fn failure_of(chunks: &[Value]) -> (Vec<LlmEvent>, LlmError) {
    let (events, end) = decode(&[sse(chunks).as_bytes()]);
    (events, end.unwrap_err())
}

fn delta(delta: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn tool(index: Option<i64>, id: Option<&str>, name: Option<&str>, arguments: Value) -> Value {
    let mut call = json!({"type": "function", "function": {"arguments": arguments}});
    if let Some(index) = index {
        call["index"] = index.into();
    }
    if let Some(id) = id {
        call["id"] = id.into();
    }
    if let Some(name) = name {
        call["function"]["name"] = name.into();
    }
    delta(json!({"tool_calls": [call]}))
}

// Builders of expected events.

fn start() -> LlmEvent {
    LlmEvent::StepStart { index: 0 }
}

fn text(parts: &[&str]) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::TextStart {
        id: "text-0".into(),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::TextDelta {
        id: "text-0".into(),
        text: (*part).into(),
        provider_metadata: None,
    }));
    events
}

fn text_end() -> LlmEvent {
    LlmEvent::TextEnd {
        id: "text-0".into(),
        provider_metadata: None,
    }
}

fn reasoning(id: &str, parts: &[&str]) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::ReasoningStart {
        id: id.into(),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| LlmEvent::ReasoningDelta {
        id: id.into(),
        text: (*part).into(),
        provider_metadata: None,
    }));
    events
}

fn reasoning_end(id: &str) -> LlmEvent {
    LlmEvent::ReasoningEnd {
        id: id.into(),
        provider_metadata: None,
    }
}

fn input(id: &str, name: &str, parts: &[&str]) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::ToolInputStart {
        id: id.into(),
        name: name.into(),
        provider_metadata: None,
    }];
    events.extend(parts.iter().map(|part| input_delta(id, name, part)));
    events
}

fn input_delta(id: &str, name: &str, text: &str) -> LlmEvent {
    LlmEvent::ToolInputDelta {
        id: id.into(),
        name: name.into(),
        text: text.into(),
    }
}

fn called(id: &str, name: &str, input: Value) -> Vec<LlmEvent> {
    vec![
        LlmEvent::ToolInputEnd {
            id: id.into(),
            name: name.into(),
            provider_metadata: None,
        },
        LlmEvent::ToolCall {
            id: id.into(),
            name: name.into(),
            input,
            provider_executed: false,
            provider_metadata: None,
        },
    ]
}

fn finished(reason: FinishReason, usage: Option<Usage>) -> Vec<LlmEvent> {
    vec![
        LlmEvent::StepFinish {
            index: 0,
            reason,
            usage: usage.clone(),
            provider_metadata: None,
        },
        LlmEvent::Finish {
            reason,
            usage,
            provider_metadata: None,
        },
    ]
}

fn usage(input: u64, output: u64, cached: Option<u64>, raw: Value) -> Option<Usage> {
    Some(Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        non_cached_input_tokens: Some(input - cached.unwrap_or(0)),
        cache_read_input_tokens: cached,
        cache_write_input_tokens: None,
        reasoning_tokens: None,
        total_tokens: None,
        cost: None,
        provider_metadata: json!({"openai": raw}).as_object().cloned().map(Box::new),
    })
}
