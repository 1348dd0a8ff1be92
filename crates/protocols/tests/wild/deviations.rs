//! A property of every answer in the corpus and of the streams of the official SDKs: a member of another type than the
//! documented one costs at most its own meaning, never the frame.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use opencode_llm::{LlmEvent, ProtocolId};
use serde_json::{Value, json};

use super::corpus::frames_of;
use super::replies::{ModelOfReply, decode, written};
use super::run::Outcome;

/// Members without which a text has no place: its own member, the members around it, and the names of events.
const ESSENTIAL: &[&str] = &[
    "",
    "type",
    "event",
    "choices",
    "delta",
    "message",
    "content",
    "text",
    "value",
    "refusal",
    "index",
    "content_block",
    "item",
    "item_id",
    "output_index",
    "id",
    "summary_index",
    "candidates",
    "parts",
    "thought",
    "contentBlockIndex",
    "reasoningContent",
    "error",
    "role",
    "name",
    "contentBlockDelta",
    "promptFeedback",
    // An unknown end means that the answer failed.
    "finish_reason",
    "native_finish_reason",
    "finishReason",
    "stop_reason",
    "stopReason",
    "status",
    "reason",
    // A call in place of the text.
    "functionCall",
    "executableCode",
    "codeExecutionResult",
    "inlineData",
];

#[test]
fn a_member_of_another_type_never_fails_a_frame() {
    let sdks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk_streams/data");
    let folders = [
        (ProtocolId::OpenAiChat, ["openai-chat", "openai-chat"]),
        (
            ProtocolId::OpenAiResponses,
            ["openai-responses", "openai-responses"],
        ),
        (
            ProtocolId::AnthropicMessages,
            ["anthropic-messages", "anthropic"],
        ),
        (ProtocolId::Gemini, ["gemini", "google"]),
        (ProtocolId::BedrockConverse, ["bedrock-converse", ""]),
    ];
    let mut failures = Vec::new();
    let mut cases = 0;
    for (id, [wild, sdk]) in folders {
        let mut streams = frames_of(wild);
        if !sdk.is_empty() {
            streams.extend(sse_data(&sdks.join(sdk)));
        }
        let mut known = HashSet::new();
        for (name, frames) in streams {
            let sound = outcome_of(id, &frames);
            if sound.1.is_err() {
                continue;
            }
            for (at, frame) in frames.iter().enumerate() {
                if !frame.is_object() || !known.insert(form_of(frame)) {
                    continue;
                }
                for (place, value) in deviations(frame) {
                    cases += 1;
                    let mut changed = frames.clone();
                    changed[at] = value;
                    let problem = problem_of(&sound, &outcome_of(id, &changed), &place);
                    failures.extend(
                        problem.map(|it| format!("{name} {at} {place}: {it}\n  {}", changed[at])),
                    );
                }
            }
        }
    }
    assert!(cases > 5_000, "only {cases} cases");
    let shown: Vec<_> = failures
        .iter()
        .step_by(1 + failures.len() / 20)
        .cloned()
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {cases}:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

/// Returns the events of the streams in a folder.
fn sse_data(folder: &Path) -> Vec<(String, Vec<Value>)> {
    let streams = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let events = lines.map(|data| {
            serde_json::from_str(data).unwrap_or_else(|_| json!(format!("data:{data}\n\n")))
        });
        (entry.file_name().into_string().unwrap(), events.collect())
    });
    streams.collect()
}

/// Returns what is wrong with an answer in which one member has another type.
fn problem_of((before, _): &Outcome, (after, end): &Outcome, place: &str) -> Option<String> {
    let refused = end.as_ref().err().map(ToString::to_string);
    if let Some(refused) = refused.filter(|it| !is_expected(it)) {
        return Some(refused);
    }
    let name = place.rsplit('/').find(|it| it.parse::<usize>().is_err());
    let is_essential = name.is_none_or(|name| ESSENTIAL.contains(&name));
    let (before, after) = (words(before), words(after));
    (!is_essential && before != after).then(|| format!("the text {before:?} became {after:?}"))
}

/// True for the failures that follow from a member that the answer cannot do without: its end, or a part of a call.
fn is_expected(failure: &str) -> bool {
    let of_calls = ["tool call", "tool input"];
    failure.ends_with("ended before a finish event")
        || failure == "Invalid mock/bedrock-converse stream event"
        || of_calls.iter().any(|it| failure.contains(it))
}

fn outcome_of(id: ProtocolId, frames: &[Value]) -> Outcome {
    let pieces: Vec<Vec<u8>> = frames.iter().map(|it| written(id, it)).collect();
    let model = ModelOfReply::default();
    decode(id, &model, pieces.iter().map(Vec::as_slice))
}

fn words(events: &[LlmEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        LlmEvent::TextDelta { text, .. } => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// Returns the frame with each of its members, one after the other, with values of all other types.
fn deviations(frame: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    collect(frame, String::new(), &mut places);
    let mut all = Vec::new();
    for place in places {
        let sound = frame.pointer(&place).unwrap();
        let others = [
            json!(null),
            json!(true),
            json!(7),
            json!(-1.5),
            json!(""),
            json!("7"),
            json!("another text"),
            json!([]),
            json!([null, 7]),
            json!([sound]),
            json!({}),
            json!({"unknown": sound}),
        ];
        for other in others
            .into_iter()
            .filter(|it| std::mem::discriminant(it) != std::mem::discriminant(sound))
        {
            let mut changed = frame.clone();
            *changed.pointer_mut(&place).unwrap() = other;
            all.push((place.clone(), changed));
        }
    }
    all
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| !name.contains('/')) {
                places.push(format!("{place}/{name}"));
                collect(value, format!("{place}/{name}"), places);
            }
        }
        Value::Array(values) => {
            for (n, value) in values.iter().enumerate() {
                places.push(format!("{place}/{n}"));
                collect(value, format!("{place}/{n}"), places);
            }
        }
        _ => {}
    }
}

/// Returns the names in a frame and its type, which tell frames of one kind.
fn form_of(frame: &Value) -> String {
    let mut places = Vec::new();
    collect(frame, String::new(), &mut places);
    format!("{} {places:?}", frame["type"])
}
