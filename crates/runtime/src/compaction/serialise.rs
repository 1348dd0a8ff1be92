//! Session History in the form that the summarising model reads: lines with the speaker and the text.

use opencode_schema::message::{
    AssistantMessage, AssistantPart, SessionMessage, ToolContent, ToolState,
};

use crate::history::estimate::{file_units, units};
use crate::history::pruning::CLEARED;

/// Maximum number of characters of a tool's or shell's output in the material of a summary.
const MAX_OUTPUT: usize = 2_000;

/// Maximum number of characters of a file's name or address.
const MAX_NAME: usize = 500;

/// Returns a message in the form that the summarising model reads. Empty for messages without text.
pub(super) fn text(message: &SessionMessage) -> String {
    written(message, MAX_OUTPUT)
}

/// Returns the UTF-16 units of a message with its whole output and its files, as the session's model
/// reads it.
pub(super) fn whole_units(message: &SessionMessage) -> u64 {
    let files = match message {
        SessionMessage::User { files, .. } => {
            let files = files.iter().flatten();
            files.map(|file| file_units(&file.uri)).sum()
        }
        SessionMessage::Assistant(answer) => answer.content.iter().map(results_units).sum(),
        _ => 0,
    };
    units(&written(message, usize::MAX)) + files
}

/// Returns the UTF-16 units of the files in the result of a call.
fn results_units(part: &AssistantPart) -> u64 {
    let AssistantPart::Tool { state, time, .. } = part else {
        return 0;
    };
    let ToolState::Completed { content, .. } = &**state else {
        return 0;
    };
    if time.pruned.is_some() {
        return 0;
    }
    let files = content.iter().map(|content| match content {
        ToolContent::Text { .. } => 0,
        ToolContent::File { uri, .. } => file_units(uri),
    });
    files.sum()
}

fn written(message: &SessionMessage, most: usize) -> String {
    match message {
        SessionMessage::AgentSwitched { .. }
        | SessionMessage::ModelSwitched { .. }
        | SessionMessage::Compaction { .. } => String::new(),
        SessionMessage::User { text, files, .. } => {
            let attached = files.iter().flatten();
            let attached = attached
                .map(|file| attachment(&file.mime, file.name.as_deref().unwrap_or(&file.uri)));
            lines(std::iter::once(format!("[User]: {text}")).chain(attached))
        }
        SessionMessage::System { text, .. } => format!("[System update]: {text}"),
        SessionMessage::Synthetic { text, files, .. } => {
            let attached = files.iter().flatten();
            let attached = attached
                .map(|file| attachment(&file.mime, file.name.as_deref().unwrap_or("attachment")));
            lines(std::iter::once(format!("[Synthetic context]: {text}")).chain(attached))
        }
        SessionMessage::Shell {
            command, output, ..
        } => format!("[Shell]: {command}\n{}", cut(output, most)),
        SessionMessage::Assistant(message) => assistant(message, most),
    }
}

fn assistant(message: &AssistantMessage, most: usize) -> String {
    lines(message.content.iter().filter_map(|part| match part {
        AssistantPart::Text { text, .. } if text.is_empty() => None,
        AssistantPart::Text { text, .. } => Some(format!("[Assistant]: {text}")),
        AssistantPart::Reasoning { text, .. } if text.is_empty() => None,
        AssistantPart::Reasoning { text, .. } => Some(format!("[Assistant reasoning]: {text}")),
        AssistantPart::Tool {
            name,
            provider,
            state,
            time,
            ..
        } => {
            let is_hosted = provider.as_ref().is_some_and(|provider| provider.executed);
            let is_pruned = time.pruned.is_some() && !is_hosted;
            Some(call(name, state, is_pruned, most))
        }
    }))
}

fn call(name: &str, state: &ToolState, is_pruned: bool, most: usize) -> String {
    let called = |input: &dyn std::fmt::Display| format!("[Assistant tool call]: {name}({input})");
    let json = |record| serde_json::Value::Object(opencode_schema::Record::clone(record));
    match state {
        ToolState::Pending { input } => called(input),
        ToolState::Running { input, .. } => called(&json(input)),
        ToolState::Completed {
            input,
            content,
            structured,
            ..
        } => {
            let result = if is_pruned {
                CLEARED.to_owned()
            } else if content.is_empty() {
                json(structured).to_string()
            } else {
                lines(content.iter().map(shown))
            };
            let result = cut(&result, most);
            format!("{}\n[Tool result]: {result}", called(&json(input)))
        }
        ToolState::Error { input, error, .. } => {
            let called = called(&json(input));
            format!("{called}\n[Tool error]: {}", cut(&error.message, most))
        }
    }
}

fn shown(content: &ToolContent) -> String {
    match content {
        ToolContent::Text { text } => text.clone(),
        ToolContent::File { uri, mime, name } => attachment(mime, name.as_deref().unwrap_or(uri)),
    }
}

fn attachment(mime: &str, name: &str) -> String {
    // The address of a file without a name may contain its whole content.
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("[Attached {mime}: {}…]", &name[..end]),
        None => format!("[Attached {mime}: {name}]"),
    }
}

fn cut(output: &str, most: usize) -> String {
    match output.char_indices().nth(most) {
        Some((end, _)) => format!("{}\n[truncated]", &output[..end]),
        None => output.to_owned(),
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(value: serde_json::Value) -> SessionMessage {
        serde_json::from_value(value).expect("a message of the contract")
    }

    fn user(text: &str) -> SessionMessage {
        message(json!({ "id": "msg_u", "time": { "created": 0 }, "text": text, "type": "user" }))
    }

    fn answer(content: serde_json::Value) -> SessionMessage {
        message(json!({
            "id": "msg_a", "time": { "created": 0, "completed": 1 }, "type": "assistant",
            "agent": "build", "model": { "id": "m", "providerID": "p" }, "content": content,
            "finish": "stop", "cost": 0,
            "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
        }))
    }

    fn checkpoint() -> SessionMessage {
        message(json!({
            "id": "msg_c", "time": { "created": 0 }, "type": "compaction", "reason": "auto",
            "summary": "s", "recent": "",
        }))
    }

    #[test]
    fn every_kind_of_message_becomes_lines() {
        let attached = message(json!({
            "id": "msg_u", "time": { "created": 0 }, "text": "look", "type": "user",
            "files": [{ "uri": "file:///a.png", "mime": "image/png" },
                      { "uri": "data:,x", "mime": "text/plain", "name": "x.txt" }],
        }));
        let tools = answer(json!([
            { "type": "reasoning", "id": "r", "text": "hm" },
            { "type": "text", "id": "t", "text": "" },
            { "type": "tool", "id": "1", "name": "read", "time": { "created": 0 },
              "state": { "status": "pending", "input": "{\"pa" } },
            { "type": "tool", "id": "2", "name": "read", "time": { "created": 0 },
              "state": { "status": "completed", "input": { "path": "a" }, "content": [],
                         "structured": { "n": 1 } } },
            { "type": "tool", "id": "3", "name": "view", "time": { "created": 0 },
              "state": { "status": "completed", "input": {}, "structured": {}, "content": [
                  { "type": "text", "text": "seen" },
                  { "type": "file", "uri": "data:,y", "mime": "image/png" }] } },
            { "type": "tool", "id": "5", "name": "grep", "time": { "created": 0, "pruned": 1 },
              "state": { "status": "completed", "input": {}, "content": [], "structured": { "n": 1 } } },
            { "type": "tool", "id": "6", "name": "web", "time": { "created": 0, "pruned": 1 },
              "provider": { "executed": true },
              "state": { "status": "completed", "input": {}, "content": [], "structured": { "n": 1 } } },
            { "type": "tool", "id": "4", "name": "read", "time": { "created": 0 },
              "state": { "status": "error", "input": {}, "content": [], "structured": {},
                         "error": { "type": "unknown", "message": "no" } } },
        ]));
        for (message, expected) in [
            (user("hi"), "[User]: hi"),
            (
                attached,
                "[User]: look\n[Attached image/png: file:///a.png]\n[Attached text/plain: x.txt]",
            ),
            (checkpoint(), ""),
            (
                tools,
                "[Assistant reasoning]: hm\n[Assistant tool call]: read({\"pa)\n\
                 [Assistant tool call]: read({\"path\":\"a\"})\n[Tool result]: {\"n\":1}\n\
                 [Assistant tool call]: view({})\n[Tool result]: seen\n[Attached image/png: data:,y]\n\
                 [Assistant tool call]: grep({})\n[Tool result]: [Old tool result content cleared]\n\
                 [Assistant tool call]: web({})\n[Tool result]: {\"n\":1}\n\
                 [Assistant tool call]: read({})\n[Tool error]: no",
            ),
        ] {
            assert_eq!(text(&message), expected);
        }
    }

    #[test]
    fn an_unnamed_attachment_is_shown_without_its_content() {
        let uri = format!("data:image/png;base64,{}", "A".repeat(1_000));
        let expected = format!("[Attached image/png: {}…]", &uri[..MAX_NAME]);
        assert_eq!(attachment("image/png", &uri), expected);
    }

    #[test]
    fn long_output_is_cut_between_characters() {
        let output = "ä".repeat(3);
        assert_eq!(cut(&output, 3), output);
        let longer = format!("{output}b");
        assert_eq!(cut(&longer, 3), format!("{output}\n[truncated]"));
        assert_eq!(cut(&longer, usize::MAX), longer);
    }
}
