//! Short texts for events, requests and messages, so that a test can compare all of them at once.

use opencode_llm::{LlmRequest, Message, Part, ToolResultValue};
use opencode_runtime::StoredEvent;
use serde_json::Value;

/// A durable or live event as text: its name and the data that distinguishes it from other events
/// of that name.
///
/// Examples: `step.started`, `text.ended Hello.`, `tool.called c1 echo {"a":1}`,
/// `prompted Hi (queue)`. Identifiers are left out if they are the only difference. Tests compare
/// identifiers separately.
#[must_use]
pub fn event(name: &str, data: &Value) -> String {
    let name = name.strip_prefix("session.next.").unwrap_or(name);
    let text = |pointer: &str| match data.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let details = match name {
        "prompt.admitted" | "prompted" => {
            let queued = data["delivery"] == "queue";
            vec![
                text("/prompt/text"),
                if queued { "(queue)" } else { "" }.into(),
            ]
        }
        "prompt.redelivered" => vec![text("/delivery")],
        "moved" => vec![text("/location/directory"), text("/subdirectory")],
        "retried" => vec![text("/attempt")],
        "text.delta" | "reasoning.delta" => vec![text("/delta")],
        "text.ended" | "reasoning.ended" | "context.updated" => vec![text("/text")],
        "tool.input.started" => vec![text("/callID"), text("/name")],
        "tool.input.delta" => vec![text("/callID"), text("/delta")],
        "tool.input.ended" => vec![text("/callID"), text("/text")],
        "tool.called" => vec![text("/callID"), text("/tool"), text("/input")],
        "tool.success" => vec![text("/callID"), text("/structured")],
        "tool.failed" => vec![text("/callID"), text("/error/message")],
        "pruned" => data["calls"].as_array().map_or_else(Vec::new, |calls| {
            let calls = calls.iter().map(|call| call["callID"].as_str());
            calls.flatten().map(str::to_owned).collect()
        }),
        "step.ended" => vec![text("/finish")],
        "output.produced" => vec![text("/name"), text("/output")],
        "output.failed" => vec![text("/error/message")],
        "output.rejected" => vec![text("/text")],
        "paused" => vec![
            text("/limit"),
            text("/used"),
            "of".to_owned(),
            text("/allowed"),
        ],
        "step.failed" => vec![text("/error/message")],
        "agent.switched" => vec![text("/agent")],
        "model.switched" => vec![
            text("/model/providerID"),
            text("/model/id"),
            text("/model/variant"),
        ],
        "compaction.started" => vec![text("/reason")],
        "compaction.delta" => vec![text("/text")],
        "compaction.ended" => vec![text("/reason"), text("/text")],
        "permission.v2.asked" => vec![text("/action"), text("/resources")],
        "permission.v2.replied" => vec![text("/reply")],
        "question.v2.asked" => vec![text("/questions/0/question")],
        "question.v2.replied" => vec![text("/answers")],
        "session.error" => vec![text("/error/data/message")],
        _ => Vec::new(),
    };
    let words = std::iter::once(name.to_owned()).chain(details);
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// A stored event in the format of [`event`].
#[must_use]
pub fn stored(stored: &StoredEvent) -> String {
    let spec = stored.spec().expect("the log holds events we know");
    let data = serde_json::from_str(&stored.data).expect("the log holds JSON");
    event(spec.name, &data)
}

/// The messages of a request, one text each: `user: Hi`, `tool: c1 = {"a":1}`. The closing messages
/// of the request come last.
#[must_use]
pub fn messages(request: &LlmRequest) -> Vec<String> {
    let messages = request.messages.iter().chain(&request.closing);
    messages.map(message).collect()
}

fn message(message: &Message) -> String {
    let parts: Vec<_> = message.content.iter().map(part).collect();
    format!("{}: {}", message.role.as_str(), parts.join(" | "))
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Media(media) => format!("<{} {}>", media.media_type, media.data),
        Part::Reasoning(reasoning) => format!("({})", reasoning.text),
        Part::ToolCall(call) => format!("{} {}{}", call.id, call.name, call.input),
        Part::ToolResult(result) => format!("{} = {}", result.id, value(&result.result)),
    }
}

fn value(value: &ToolResultValue) -> String {
    match value {
        ToolResultValue::Text(text) => text.clone(),
        ToolResultValue::Json(value) => value.to_string(),
        ToolResultValue::Error(value) => match value.pointer("/error/message") {
            Some(Value::String(message)) => format!("failed: {message}"),
            _ => format!("failed: {value}"),
        },
        ToolResultValue::Content(parts) => format!("{} parts", parts.len()),
    }
}
