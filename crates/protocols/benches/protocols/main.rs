//! Benches of the adapters: encoding a request with 200 messages, and decoding an answer of 20,000 fragments.
//!
//! `npm run bench -- protocols` runs them and prints one line of JSON per figure.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and ends at an unexpected result"
)]

#[path = "../../tests/common/event_stream.rs"]
mod event_stream;
mod streams;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use opencode_llm::{
    Capabilities, LlmEvent, LlmRequest, Message, Part, PrefixCache, ProtocolId, ResolvedModel,
    Sources, SystemPart, ToolCallPart, ToolDefinition, ToolResultPart, ToolResultValue,
};
use opencode_protocols::{self as protocol};
use serde_json::json;

const MESSAGES: usize = 200;
const FRAGMENTS: usize = 20_000;
/// The size in bytes of the pieces in which an answer arrives.
const CHUNK: usize = 16 * 1024;
const RUNS: usize = 25;

/// Time limits in milliseconds.
const ENCODING: f64 = 2.0;
const DECODING: f64 = 60.0;

const PROTOCOLS: [(&str, ProtocolId, &str); 5] = [
    ("openai-chat", ProtocolId::OpenAiChat, "gpt-5"),
    ("openai-responses", ProtocolId::OpenAiResponses, "gpt-5"),
    (
        "anthropic-messages",
        ProtocolId::AnthropicMessages,
        "claude-sonnet-4-5",
    ),
    ("gemini", ProtocolId::Gemini, "gemini-3-pro"),
    (
        "bedrock-converse",
        ProtocolId::BedrockConverse,
        "us.anthropic.claude-sonnet-4-5-v1:0",
    ),
];

fn main() {
    for (name, id, model) in PROTOCOLS {
        let request = request(id, model);
        report(
            &format!("encode a request with {MESSAGES} messages, {name}"),
            ENCODING,
            || encode(&request),
        );
        let answer = streams::of(id, FRAGMENTS);
        report(
            &format!("decode {FRAGMENTS} fragments, {name}"),
            DECODING,
            || decode(&request, &answer),
        );
    }
}

/// A conversation of prompts, answers with calls, and their results.
fn request(id: ProtocolId, model: &str) -> LlmRequest {
    let mut model = ResolvedModel::new("bench", model, id, "http://localhost:1");
    model.limits.output = 8_000;
    model.capabilities = Capabilities {
        tools: true,
        ..Capabilities::default()
    };
    let mut request = LlmRequest::new(Arc::new(model));
    request.system = vec![SystemPart::new("Work carefully. ".repeat(500))];
    request.tools = (0..13).map(tool).collect();
    request.messages = Arc::new((0..MESSAGES).map(message).collect());
    request
}

fn message(place: usize) -> Message {
    let id = format!("call_{}", place / 4);
    match place % 4 {
        0 => Message::user([Part::text(
            "Please read the file and explain it. ".repeat(10),
        )]),
        1 => Message::assistant([
            Part::text("I read the file first."),
            Part::ToolCall(ToolCallPart {
                id,
                name: "tool_1".into(),
                input: json!({"path": "src/main.rs", "offset": place, "limit": 200}),
                provider_executed: false,
                provider_metadata: None,
            }),
        ]),
        2 => Message::tool([Part::ToolResult(ToolResultPart {
            id,
            name: "tool_1".into(),
            result: ToolResultValue::Text("fn main() { println!(\"hello\"); }\n".repeat(60)),
            provider_executed: false,
            provider_metadata: None,
        })]),
        _ => Message::assistant([Part::text("The file prints a greeting. ".repeat(20))]),
    }
}

fn tool(number: usize) -> ToolDefinition {
    let path = json!({"type": "string", "description": "The path of the file."});
    let limit = json!({"type": "integer", "minimum": 1, "description": "The number of lines."});
    ToolDefinition {
        name: format!("tool_{number}"),
        description: "Reads a part of a file and returns its lines with their numbers. ".repeat(8),
        input_schema: json!({
            "type": "object",
            "properties": {"path": path, "offset": limit, "limit": limit},
            "required": ["path"],
        })
        .into(),
    }
}

/// Encodes the whole request: no output of a former request is reused.
fn encode(request: &LlmRequest) {
    let fresh = LlmRequest {
        prefix: PrefixCache::default(),
        ..request.clone()
    };
    let adapter = protocol::adapter(fresh.model.protocol);
    black_box(adapter.encode(&fresh).unwrap());
}

fn decode(request: &LlmRequest, answer: &[u8]) {
    let adapter = protocol::adapter(request.model.protocol);
    let mut decoder = adapter.decoder(request, &Sources::default());
    let mut fragments = 0;
    let mut events = Vec::new();
    for chunk in answer.chunks(CHUNK) {
        decoder.push(chunk, &mut events).unwrap();
        fragments += count(&events);
        events.clear();
    }
    decoder.end(&mut events).unwrap();
    fragments += count(&events);
    assert!(decoder.is_over(), "the answer is incomplete");
    assert_eq!(fragments, FRAGMENTS);
}

fn count(events: &[LlmEvent]) -> usize {
    let is_fragment = |event: &&LlmEvent| matches!(event, LlmEvent::TextDelta { .. });
    events.iter().filter(is_fragment).count()
}

/// Prints the time of `work` in milliseconds, in the format of the other benches.
fn report(bench: &str, at_most: f64, mut work: impl FnMut()) {
    work();
    let mut samples: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    let round = |value: f64| (value * 1000.0).round() / 1000.0;
    let median = samples[RUNS / 2];
    let line = json!({
        "bench": bench, "unit": "ms", "median": round(median), "min": round(samples[0]),
        "max": round(samples[RUNS - 1]), "runs": RUNS, "budget": format!("<= {at_most}"),
        "within": median <= at_most,
    });
    println!("{line}");
}
