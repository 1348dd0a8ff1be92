//! Compaction of a Session History: what of it could become a summary.
//!
//! Making the summary is not built yet, so a history that is long enough to need one is refused.

use opencode_schema::id::SessionID;
use opencode_schema::message::{
    AssistantMessage, AssistantPart, SessionMessage, ToolContent, ToolState,
};

use crate::core::Core;
use crate::error::RuntimeError;

/// Name of the operation in failures.
const SERVICE: &str = "session.compact";

/// Characters of a tool's or a shell's output that a summary is made from.
const MAX_OUTPUT: usize = 2_000;

/// UTF-16 units that count as one token.
const UNITS_PER_TOKEN: u64 = 4;

impl Core {
    /// Compacts the session's history, if there is anything to compact.
    pub(crate) async fn compact(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let session = self.session(id).await?;
        let unavailable = |message| RuntimeError::Unavailable {
            service: SERVICE,
            message,
        };
        let location = self.locations.get(&session.info.location.directory);
        let location = location
            .await
            .map_err(|error| unavailable(error.to_string()))?;
        let history = self.context(id).await?;
        if is_worth_compacting(
            &history,
            location.configuration.settings.compaction.keep_tokens,
        ) {
            return Err(unavailable(format!(
                "The history of {id} is long enough to be compacted, and this version cannot compact yet"
            )));
        }
        Ok(())
    }
}

/// Whether a summary would stand for anything: for turns older than the newest `keep` tokens, or
/// for an earlier summary that can take in what came after it.
fn is_worth_compacting(history: &[SessionMessage], keep: u64) -> bool {
    let is_checkpoint = |it: &SessionMessage| matches!(it, SessionMessage::Compaction { .. });
    let is_answer =
        |it: &SessionMessage| matches!(it, SessionMessage::Assistant(it) if it.finish.is_some());
    let sizes: Vec<u64> = history
        .iter()
        .map(|message| tokens(&text(message)))
        .filter(|size| *size > 0)
        .collect();
    let follows_checkpoint = history.iter().any(is_checkpoint) && !sizes.is_empty();
    let is_long = sizes.iter().sum::<u64>() > keep;
    follows_checkpoint || is_long && history.iter().any(is_answer)
}

/// The estimate that every decision about sizes is made by.
fn tokens(text: &str) -> u64 {
    let units = text.encode_utf16().count() as u64;
    (units + UNITS_PER_TOKEN / 2) / UNITS_PER_TOKEN
}

/// A message as the model that makes the summary reads it; empty for what says nothing.
fn text(message: &SessionMessage) -> String {
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
        SessionMessage::Synthetic { text, .. } => format!("[Synthetic context]: {text}"),
        SessionMessage::Shell {
            command, output, ..
        } => format!("[Shell]: {command}\n{}", cut(output)),
        SessionMessage::Assistant(message) => assistant(message),
    }
}

fn assistant(message: &AssistantMessage) -> String {
    lines(message.content.iter().filter_map(|part| match part {
        AssistantPart::Text { text, .. } if text.is_empty() => None,
        AssistantPart::Text { text, .. } => Some(format!("[Assistant]: {text}")),
        AssistantPart::Reasoning { text, .. } if text.is_empty() => None,
        AssistantPart::Reasoning { text, .. } => Some(format!("[Assistant reasoning]: {text}")),
        AssistantPart::Tool { name, state, .. } => Some(call(name, state)),
    }))
}

fn call(name: &str, state: &ToolState) -> String {
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
            let result = if content.is_empty() {
                json(structured).to_string()
            } else {
                lines(content.iter().map(shown))
            };
            format!("{}\n[Tool result]: {}", called(&json(input)), cut(&result))
        }
        ToolState::Error { input, error, .. } => {
            let called = called(&json(input));
            format!("{called}\n[Tool error]: {}", cut(&error.message))
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
    format!("[Attached {mime}: {name}]")
}

fn cut(output: &str) -> String {
    match output.char_indices().nth(MAX_OUTPUT) {
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

    fn said(text: &str) -> SessionMessage {
        answer(json!([{ "type": "text", "id": "t", "text": text }]))
    }

    fn checkpoint() -> SessionMessage {
        message(json!({
            "id": "msg_c", "time": { "created": 0 }, "type": "compaction", "reason": "auto",
            "summary": "s", "recent": "",
        }))
    }

    #[test]
    fn every_kind_of_message_reads_as_lines() {
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
                 [Assistant tool call]: read({})\n[Tool error]: no",
            ),
        ] {
            assert_eq!(text(&message), expected);
        }
    }

    #[test]
    fn long_output_is_cut_between_characters() {
        let output = "ä".repeat(MAX_OUTPUT);
        assert_eq!(cut(&output), output);
        assert_eq!(cut(&format!("{output}b")), format!("{output}\n[truncated]"));
    }

    #[test]
    fn a_summary_must_stand_for_older_turns_or_an_earlier_summary() {
        // "[User]: " and eight letters are four tokens, "[Assistant]: " and three are four as well.
        let turn = || vec![user("12345678"), said("123")];
        let before = |first: SessionMessage| {
            let mut history = vec![first];
            history.extend(turn());
            history
        };
        for (history, keep, expected) in [
            (Vec::new(), 0, false),
            (turn(), 8, false),
            (turn(), 7, true),
            (vec![user("12345678")], 0, false),
            (vec![checkpoint()], 0, false),
            (before(checkpoint()), 100, true),
        ] {
            assert_eq!(is_worth_compacting(&history, keep), expected, "{history:?}");
        }
    }
}
