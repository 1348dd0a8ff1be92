//! The conversation in wire form, written strictly by appending.
//!
//! A following request of the same conversation repeats this one and adds to it. So the last user
//! message stays open (a Mid-Conversation System Message may still be appended to it), images from
//! tool results wait for the end of their run of tool messages, and only [`Transcript::render`]
//! writes the closing delimiters. What was written is never written again, and never differently.

use serde_json::Value;

use super::NAMESPACE;
use super::dialect::Dialect;
use super::user::{self, Piece};
use crate::error::LlmError;
use crate::json;
use crate::protocol::mid_conversation;
use crate::request::{
    Message, Part, ReasoningPart, Role, SystemPart, TextPart, ToolCallPart, ToolContent,
    ToolResultPart, ToolResultValue,
};

/// Namespaces whose reasoning this protocol can hand back.
const OWN_NAMESPACES: [&str; 3] = [NAMESPACE, "openrouter", "copilot"];

/// What stands between a tool message and a user message for servers that allow no direct
/// succession.
const BRIDGE: &[u8] = br#",{"role":"assistant","content":"Done."},"#;

/// The conversation so far.
pub(super) struct Transcript {
    dialect: Dialect,
    system: Vec<SystemPart>,
    messages: Vec<Message>,
    wire: Vec<u8>,
    /// Something stands before `wire`.
    is_continued: bool,
    open: Open,
    /// Images out of tool results, as elements of a content array.
    held: Vec<u8>,
    after_tool: bool,
}

/// What the last wire message lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    /// The end of its content string.
    Text,
    /// The end of its content array.
    Parts,
}

impl Transcript {
    /// A conversation of nothing but the opening system text.
    pub(super) fn new(dialect: Dialect, system: &[SystemPart]) -> Self {
        let mut transcript = Self {
            dialect,
            system: system.to_vec(),
            messages: Vec::new(),
            wire: Vec::new(),
            is_continued: false,
            open: Open::Nothing,
            held: Vec::new(),
            after_tool: false,
        };
        transcript.write_system();
        transcript
    }

    /// The dialect it is written in.
    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Whether a conversation goes on where this one stopped.
    pub(super) fn is_prefix_of(
        &self,
        dialect: &Dialect,
        system: &[SystemPart],
        messages: &[Message],
    ) -> bool {
        self.dialect == *dialect
            && self.system == system
            && self.messages.len() <= messages.len()
            && self
                .messages
                .iter()
                .zip(messages)
                .all(|(written, given)| written.is_same(given))
    }

    /// Writes what the conversation has beyond this transcript.
    pub(super) fn extend_to(&mut self, messages: &[Message]) -> Result<(), LlmError> {
        for message in &messages[self.messages.len()..] {
            message.check()?;
            self.push(message)?;
            self.messages.push(message.clone());
        }
        Ok(())
    }

    /// Appends the elements of the message array, complete; the last of them is `closing`, which is
    /// no part of the conversation.
    pub(super) fn render(
        &self,
        closing: Option<&Message>,
        out: &mut Vec<u8>,
    ) -> Result<(), LlmError> {
        let mut rest = self.rest();
        if let Some(message) = closing {
            message.check()?;
            rest.push(message)?;
        }
        rest.release_images();
        rest.close();
        out.extend_from_slice(&self.wire);
        out.extend_from_slice(&rest.wire);
        Ok(())
    }

    /// What is written so far. A following request goes on from there.
    pub(super) fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// What this request says behind that, without what closes its last message.
    pub(super) fn end(&self) -> Vec<u8> {
        let mut rest = self.rest();
        rest.release_images();
        rest.wire
    }

    /// A transcript that goes on from this one and is thrown away.
    fn rest(&self) -> Self {
        Self {
            dialect: self.dialect.clone(),
            system: Vec::new(),
            messages: self.messages.last().cloned().into_iter().collect(),
            wire: Vec::new(),
            is_continued: !self.wire.is_empty(),
            open: self.open,
            held: self.held.clone(),
            after_tool: self.after_tool,
        }
    }

    /// About how much [`Transcript::render`] will append.
    pub(super) fn len(&self) -> usize {
        self.wire.len() + self.held.len() + 64
    }

    fn push(&mut self, message: &Message) -> Result<(), LlmError> {
        match message.role {
            Role::System => {
                self.release_images();
                self.push_update(&message.content);
            }
            Role::User => {
                self.release_images();
                self.close();
                self.push_user(&message.content);
            }
            Role::Assistant => {
                self.release_images();
                self.close();
                self.push_assistant(&message.content);
            }
            Role::Tool => {
                if self
                    .messages
                    .last()
                    .is_some_and(|last| last.role == Role::System)
                {
                    return Err(LlmError::invalid_request(
                        "a system message cannot stand between a tool call and its result",
                    ));
                }
                self.close();
                self.push_results(&message.content);
            }
        }
        Ok(())
    }

    fn write_system(&mut self) {
        let texts: Vec<&str> = self
            .system
            .iter()
            .map(|part| &*part.text)
            .filter(|text| !text.is_empty())
            .collect();
        if !texts.is_empty() {
            let role = self.dialect.system_role.as_str();
            self.wire.extend_from_slice(br#"{"role":"#);
            json::write(&mut self.wire, role);
            self.wire.extend_from_slice(br#","content":"#);
            json::write(&mut self.wire, &texts.join("\n"));
            self.wire.push(b'}');
        }
    }

    fn push_user(&mut self, content: &[Part]) {
        let pieces = user::pieces(content, &self.dialect);
        if pieces.is_empty() {
            return;
        }
        if pieces.iter().all(Piece::is_text) {
            self.open_user(Open::Text);
            json::write_unquoted(&mut self.wire, &user::joined(&pieces));
            return;
        }
        self.open_user(Open::Parts);
        for (n, piece) in pieces.iter().enumerate() {
            if n > 0 {
                self.wire.push(b',');
            }
            piece.write(&mut self.wire);
        }
    }

    /// An update joins the user message right before it.
    fn push_update(&mut self, content: &[Part]) {
        let text =
            mid_conversation::wrap_system_message(content.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.text.as_str()),
                _ => None,
            }));
        match self.open {
            Open::Nothing => {
                self.open_user(Open::Text);
                json::write_unquoted(&mut self.wire, &text);
            }
            Open::Text => {
                self.wire.extend_from_slice(br"\n");
                json::write_unquoted(&mut self.wire, &text);
            }
            Open::Parts => {
                self.wire.push(b',');
                Piece::Note(text).write(&mut self.wire);
            }
        }
    }

    /// Parts that the provider ran itself have no form in this protocol; history turns those worth
    /// keeping into text before it gets here.
    fn push_assistant(&mut self, content: &[Part]) {
        let mut texts: Vec<&str> = Vec::new();
        let mut reasoning = String::new();
        let mut calls: Vec<&ToolCallPart> = Vec::new();
        for part in content {
            match part {
                Part::Text(TextPart { text, .. }) if !text.is_empty() => texts.push(text),
                Part::Reasoning(part) if is_foreign(part) && !part.text.is_empty() => {
                    texts.push(&part.text);
                }
                Part::Reasoning(part) => reasoning.push_str(&part.text),
                Part::ToolCall(call) if !call.provider_executed => calls.push(call),
                _ => {}
            }
        }
        if texts.is_empty() && reasoning.is_empty() && calls.is_empty() {
            return;
        }
        self.separate();
        self.after_tool = false;
        self.wire
            .extend_from_slice(br#"{"role":"assistant","content":"#);
        if texts.is_empty() {
            self.wire.extend_from_slice(b"null");
        } else {
            json::write(&mut self.wire, &texts.join("\n"));
        }
        self.write_calls(&calls);
        if !reasoning.is_empty() || self.dialect.reasoning_required {
            self.wire.push(b',');
            json::write(&mut self.wire, &self.dialect.reasoning_field);
            self.wire.push(b':');
            json::write(&mut self.wire, &reasoning);
        }
        self.wire.push(b'}');
    }

    fn write_calls(&mut self, calls: &[&ToolCallPart]) {
        if calls.is_empty() {
            return;
        }
        self.wire.extend_from_slice(br#","tool_calls":["#);
        for (n, call) in calls.iter().enumerate() {
            if n > 0 {
                self.wire.push(b',');
            }
            self.wire.extend_from_slice(br#"{"id":"#);
            json::write(&mut self.wire, &self.dialect.call_id(&call.id));
            self.wire
                .extend_from_slice(br#","type":"function","function":{"name":"#);
            json::write(&mut self.wire, &call.name);
            self.wire.extend_from_slice(br#","arguments":"#);
            json::write(&mut self.wire, &call.input.to_string());
            self.wire.extend_from_slice(b"}}");
        }
        self.wire.push(b']');
    }

    fn push_results(&mut self, content: &[Part]) {
        for part in content {
            let Part::ToolResult(result) = part else {
                continue;
            };
            if result.provider_executed {
                continue;
            }
            let text = self.result_text(result);
            self.separate();
            self.after_tool = true;
            self.wire
                .extend_from_slice(br#"{"role":"tool","tool_call_id":"#);
            json::write(&mut self.wire, &self.dialect.call_id(&result.id));
            self.wire.extend_from_slice(br#","content":"#);
            json::write(&mut self.wire, &text);
            self.wire.push(b'}');
        }
    }

    /// The text of a result. Tool messages cannot carry files, so those wait for the end of the
    /// run.
    fn result_text(&mut self, result: &ToolResultPart) -> String {
        let pieces = match &result.result {
            ToolResultValue::Text(text) => return text.clone(),
            ToolResultValue::Json(value) => return value.to_string(),
            ToolResultValue::Error(Value::String(text)) => return text.clone(),
            ToolResultValue::Error(value) => return value.to_string(),
            ToolResultValue::Content(pieces) => pieces,
        };
        let mut lines: Vec<String> = Vec::new();
        for piece in pieces {
            match piece {
                ToolContent::Text { text } => lines.push(text.clone()),
                ToolContent::File { uri, mime, name } => {
                    match user::file_piece(mime, uri, name.as_deref(), &self.dialect) {
                        Piece::Note(note) => lines.push(note),
                        file => {
                            if !self.held.is_empty() {
                                self.held.push(b',');
                            }
                            file.write(&mut self.held);
                        }
                    }
                }
            }
        }
        lines.join("\n")
    }

    /// Ends a run of tool messages: the images it produced become a user message.
    fn release_images(&mut self) {
        if !self.held.is_empty() {
            self.open_user(Open::Parts);
            self.wire.append(&mut self.held);
        }
    }

    fn open_user(&mut self, open: Open) {
        self.wire.extend_from_slice(self.before_user());
        self.wire.extend_from_slice(open.opening());
        self.after_tool = false;
        self.open = open;
    }

    fn close(&mut self) {
        self.wire.extend_from_slice(self.open.closing());
        self.open = Open::Nothing;
    }

    fn is_begun(&self) -> bool {
        self.is_continued || !self.wire.is_empty()
    }

    fn separate(&mut self) {
        if self.is_begun() {
            self.wire.push(b',');
        }
    }

    fn before_user(&self) -> &'static [u8] {
        if self.dialect.mistral && self.after_tool {
            BRIDGE
        } else if self.is_begun() {
            b","
        } else {
            b""
        }
    }
}

impl Open {
    const fn opening(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::Text => br#"{"role":"user","content":""#,
            Self::Parts => br#"{"role":"user","content":["#,
        }
    }

    const fn closing(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::Text => b"\"}",
            Self::Parts => b"]}",
        }
    }
}

/// Reasoning that came through another protocol, although from a model of the same name: it must
/// not be replayed as if this protocol had produced it. Reasoning without any metadata is plain
/// text and fits everywhere.
fn is_foreign(part: &ReasoningPart) -> bool {
    part.provider_metadata.as_ref().is_some_and(|metadata| {
        !metadata.is_empty() && !OWN_NAMESPACES.iter().any(|own| metadata.contains_key(*own))
    })
}
