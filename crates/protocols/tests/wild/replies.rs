//! Answers of models, in a folder for each protocol.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use opencode_llm::{
    BlockId, CallProblem, CompatibleServer, LlmEvent, LlmRequest, ProtocolId, ResolvedModel,
    Sources, ToolResultValue, Usage,
};
use opencode_protocols::{self as protocol, Decoder};
use serde_json::{Map, Value, json};

use super::corpus::check_each;
use super::event_stream::frame;
use super::run::{Outcome, decode_by};

/// The members of a line that a file may leave out. Then it says nothing about them.
const OPTIONAL: [&str; 4] = ["id", "usage", "message", "metadata"];

/// A file: an answer, and what it must mean.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    #[expect(dead_code, reason = "checked for every kind of file")]
    about: Value,
    #[expect(dead_code, reason = "checked for every kind of file")]
    reported: Value,
    #[serde(default)]
    model: ModelOfReply,
    frames: Vec<Value>,
    answer: Vec<Map<String, Value>>,
}

/// The model that answers. Only a few quirks depend on it.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelOfReply {
    provider: Option<String>,
    id: Option<String>,
    #[serde(rename = "baseURL")]
    base_url: Option<String>,
}

#[test]
fn answers_of_openai_chat() {
    check(ProtocolId::OpenAiChat);
}

#[test]
fn answers_of_openai_responses() {
    check(ProtocolId::OpenAiResponses);
}

#[test]
fn answers_of_anthropic_messages() {
    check(ProtocolId::AnthropicMessages);
}

#[test]
fn answers_of_gemini() {
    check(ProtocolId::Gemini);
}

#[test]
fn answers_of_bedrock_converse() {
    check(ProtocolId::BedrockConverse);
}

#[test]
fn answers_of_the_program() {
    check(ProtocolId::Program(0));
}

/// Decodes every file of the folder of a protocol: in one piece, frame by frame, and byte by byte.
fn check(id: ProtocolId) {
    check_each(id.as_str(), |reply: Reply| {
        let pieces: Vec<Vec<u8>> = reply.frames.iter().map(|it| written(id, it)).collect();
        let whole = pieces.concat();
        let by_frame = decode(id, &reply.model, pieces.iter().map(Vec::as_slice));
        compare(&by_frame, &reply.answer)?;
        // The program sends whole batches.
        if !matches!(id, ProtocolId::Program(_)) {
            compare(&decode(id, &reply.model, [&*whole]), &reply.answer)
                .map_err(|error| format!("in one piece: {error}"))?;
            compare(&decode(id, &reply.model, whole.chunks(1)), &reply.answer)
                .map_err(|error| format!("byte by byte: {error}"))?;
        }
        Ok(())
    });
}

/// Returns a frame as the server sends it. A text is sent as it is.
pub(crate) fn written(id: ProtocolId, it: &Value) -> Vec<u8> {
    match (id, it) {
        (_, Value::String(text)) => text.clone().into_bytes(),
        (ProtocolId::BedrockConverse, it) => {
            let (name, payload) = it.as_object().unwrap().iter().next().unwrap();
            let (kind, named) = match name.ends_with("Exception") {
                true => ("exception", ":exception-type"),
                false => ("event", ":event-type"),
            };
            frame(
                &[(":message-type", kind), (named, name)],
                payload.to_string(),
            )
        }
        (ProtocolId::Program(_), it) => json!([it]).to_string().into_bytes(),
        (_, it) => format!("data: {it}\n\n").into_bytes(),
    }
}

pub(crate) fn decode<'a>(
    id: ProtocolId,
    about: &ModelOfReply,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    decode_by(decoder(id, about), chunks)
}

fn decoder(id: ProtocolId, about: &ModelOfReply) -> Box<dyn Decoder> {
    let given = |text: &Option<String>, usual: &str| text.as_deref().unwrap_or(usual).to_owned();
    let mut model = ResolvedModel::new(
        given(&about.provider, "mock"),
        given(&about.id, "m1"),
        id,
        given(&about.base_url, "http://localhost:1/v1"),
    );
    model.compatibility.compatible_server = match about.provider.as_deref() {
        Some("openrouter") => Some(CompatibleServer::OpenRouter),
        Some("github-copilot") => Some(CompatibleServer::Copilot),
        _ => None,
    };
    let counter = Arc::new(AtomicU64::new(0));
    let sources = Sources::new(
        move || counter.fetch_add(1, Ordering::Relaxed),
        || SystemTime::UNIX_EPOCH,
    );
    protocol::adapter(id).decoder(&LlmRequest::new(Arc::new(model)), &sources)
}

fn compare(outcome: &Outcome, expected: &[Map<String, Value>]) -> Result<(), String> {
    let found = lines(outcome);
    let is_equal = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| is_said(found, expected));
    let shown = |lines: &[Map<String, Value>]| -> String {
        lines
            .iter()
            .map(|line| format!("\n    {}", json!(line)))
            .collect()
    };
    is_equal
        .then_some(())
        .ok_or_else(|| format!("expected{}\n  but it is{}", shown(expected), shown(&found)))
}

/// True if a line has all that is expected and nothing else that it must say.
fn is_said(found: &Map<String, Value>, expected: &Map<String, Value>) -> bool {
    let is_met = |(name, value): (&String, &Value)| match (found.get(name), value) {
        (Some(Value::String(found)), Value::String(part)) if name == "message" => {
            found.contains(&**part)
        }
        (found, value) => found == Some(value),
    };
    let is_named = |name: &String| expected.contains_key(name) || OPTIONAL.contains(&&**name);
    expected.iter().all(is_met) && found.keys().all(is_named)
}

/// Returns one line for every block, call, result and source, and one for the end of the answer.
fn lines((events, end): &Outcome) -> Vec<Map<String, Value>> {
    let mut lines: Vec<Value> = Vec::new();
    let mut blocks: HashMap<(&str, &BlockId), usize> = HashMap::new();
    for event in events {
        match event {
            LlmEvent::TextStart { id, .. } => {
                blocks.insert(("text", id), lines.len());
                lines.push(json!({"text": ""}));
            }
            LlmEvent::ReasoningStart { id, .. } => {
                blocks.insert(("reasoning", id), lines.len());
                lines.push(json!({"reasoning": ""}));
            }
            LlmEvent::TextDelta { id, text, .. } => {
                append(&mut lines[blocks[&("text", id)]]["text"], text);
            }
            LlmEvent::ReasoningDelta { id, text, .. } => {
                append(&mut lines[blocks[&("reasoning", id)]]["reasoning"], text);
            }
            LlmEvent::TextEnd {
                id,
                provider_metadata,
                ..
            } => {
                lines[blocks[&("text", id)]]["metadata"] = json!(provider_metadata);
            }
            LlmEvent::ReasoningEnd {
                id,
                provider_metadata,
                ..
            } => {
                lines[blocks[&("reasoning", id)]]["metadata"] = json!(provider_metadata);
            }
            LlmEvent::ToolCall {
                id,
                name,
                input,
                provider_executed,
                ..
            } => {
                let kind = if *provider_executed {
                    "hosted-call"
                } else {
                    "call"
                };
                lines.push(json!({kind: name, "id": id, "input": input}));
            }
            LlmEvent::InvalidToolCall {
                id, name, problem, ..
            } => {
                let (CallProblem::Name(reason) | CallProblem::Input { reason, .. }) = problem;
                lines.push(json!({"invalid-call": name, "id": id, "message": reason}));
            }
            LlmEvent::ToolResult {
                id, name, result, ..
            } => {
                let kind = if matches!(result, ToolResultValue::Error(_)) {
                    "failed"
                } else {
                    "result"
                };
                lines.push(json!({kind: name, "id": id}));
            }
            LlmEvent::ToolError {
                id, name, message, ..
            } => {
                lines.push(json!({"failed": name, "id": id, "message": message}));
            }
            LlmEvent::Cited(source) => lines.push(json!({"source": source})),
            LlmEvent::Finish { reason, usage, .. } => {
                lines.push(json!({"finish": reason.as_str(), "usage": usage.as_ref().map(counts)}));
            }
            LlmEvent::ProviderError { message, kind, .. } => {
                lines.push(json!({"error": kind.as_str(), "message": message}));
            }
            LlmEvent::StepStart { .. }
            | LlmEvent::ToolInputStart { .. }
            | LlmEvent::ToolInputDelta { .. }
            | LlmEvent::ToolInputEnd { .. }
            | LlmEvent::StepFinish { .. } => {}
        }
    }
    if let Err(error) = end {
        lines.push(json!({"error": error.kind().as_str(), "message": error.to_string()}));
    }
    let objects = lines
        .into_iter()
        .map(|mut line| std::mem::take(line.as_object_mut().unwrap()));
    objects.collect()
}

fn append(line: &mut Value, more: &str) {
    let text = line.as_str().unwrap_or_default();
    *line = format!("{text}{more}").into();
}

/// Returns the counts that are not zero.
fn counts(usage: &Usage) -> Value {
    let it = usage.counts();
    let all = [
        ("input", it.input),
        ("output", it.output),
        ("reasoning", it.reasoning),
        ("cache-read", it.cache_read),
        ("cache-write", it.cache_write),
    ];
    let counted = all.into_iter().filter(|(_, count)| *count > 0);
    counted
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect::<Map<_, _>>()
        .into()
}
