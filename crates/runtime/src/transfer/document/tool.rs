//! Tool calls of a document.

use opencode_schema::Record;
use opencode_schema::event::{
    EventProvider, ToolCalled, ToolFailed, ToolInputEnded, ToolInputStarted, ToolSuccess,
};
use opencode_schema::message::{ErrorKind, SessionErrorUnknown, ToolContent};
use serde_json::Value;

use super::assistant::Answer;
use super::log::Log;
use super::values::{name, object, text, time};

/// Adds the events of a call. A call without a result was cut off, so it failed.
pub(super) fn translate(log: &mut Log, answer: &Answer, part: &Record) {
    let (Some(call_id), Some(tool)) = (name(part, "callID"), name(part, "tool")) else {
        let reason = "The call has no id or names no tool.";
        log.omit(Some(answer.id.as_str()), text(part, "id"), "tool", reason);
        return;
    };
    let empty = Record::new();
    let state = object(part, "state").unwrap_or(&empty);
    let started = time(state, "start").unwrap_or(answer.created);
    let ended = time(state, "end").unwrap_or(started);
    let input = object(state, "input").cloned().unwrap_or_default();
    let assistant_message_id = answer.id.clone();
    log.push(
        started,
        ToolInputStarted {
            assistant_message_id: assistant_message_id.clone(),
            call_id: call_id.clone(),
            name: tool.clone(),
        },
    );
    log.push(
        started,
        ToolInputEnded {
            assistant_message_id: assistant_message_id.clone(),
            call_id: call_id.clone(),
            text: Value::Object(input.clone()).to_string(),
        },
    );
    log.push(
        started,
        ToolCalled {
            assistant_message_id: assistant_message_id.clone(),
            call_id: call_id.clone(),
            tool,
            input,
            provider: EventProvider::default(),
        },
    );
    if text(state, "status") == Some("completed") {
        let success = ToolSuccess {
            assistant_message_id,
            call_id,
            structured: structured(state),
            content: content(state),
            output_paths: Some(Vec::new()),
            result: None,
            provider: EventProvider::default(),
        };
        log.push(ended, success);
        return;
    }
    let error = match text(state, "error") {
        Some(message) => SessionErrorUnknown::of(ErrorKind::Tool, message),
        None => SessionErrorUnknown::of(ErrorKind::Interrupted, "Tool execution interrupted"),
    };
    let failed = ToolFailed {
        assistant_message_id,
        call_id,
        error,
        result: None,
        provider: EventProvider::default(),
    };
    log.push(ended, failed);
}

/// Returns the result for programs: title and metadata. The output is the content.
fn structured(state: &Record) -> Record {
    let members = ["title", "metadata"];
    let present = members.iter().filter_map(|member| {
        let value = state.get(*member)?;
        Some(((*member).to_owned(), value.clone()))
    });
    present.collect()
}

/// Returns the content that the model received.
fn content(state: &Record) -> Vec<ToolContent> {
    let output = text(state, "output").unwrap_or_default().to_owned();
    let mut content = vec![ToolContent::Text { text: output }];
    let attachments = state.get("attachments").and_then(Value::as_array);
    let files = attachments
        .into_iter()
        .flatten()
        .filter_map(Value::as_object);
    content.extend(files.filter_map(|file| {
        Some(ToolContent::File {
            uri: name(file, "url")?,
            mime: name(file, "mime")?,
            name: name(file, "filename"),
        })
    }));
    content
}
