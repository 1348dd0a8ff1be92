//! The messages of a conversation.
//!
//! The last user message stays open, because a Mid-Conversation System Message may be appended to
//! it. Images of tool results wait for the end of their sequence of tool messages.

use opencode_llm::canonical::json;
use opencode_llm::canonical::request::{
    Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolContent, ToolDefinition,
    ToolResultPart,
};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::cache::Places;
use super::dialect::Dialect;
use super::sealed;
use super::user::{self, Piece};
use crate::blank::{is_blank, visible};
use crate::identifiers::tool_name;
use crate::media::Attachment;
use crate::protocol::CONTINUE;
use crate::transcript::{Form, Page};
use crate::{mid_conversation, tool_schema};

/// Namespaces of reasoning that this protocol can send back.
const OWN_NAMESPACES: [&str; 3] = [NAMESPACE, "openrouter", "copilot"];

/// The message between a tool message and a user message, for servers that do not allow these to
/// follow each other.
const BRIDGE: &[u8] = br#",{"role":"assistant","content":"Done."},"#;

/// State between two messages.
#[derive(Clone, Default)]
pub(crate) struct State {
    open: Open,
    /// Images of tool results, as elements of a content array.
    held: Vec<u8>,
    last: LastRole,
    /// The positions of cache marks. There are none without them in the dialect.
    pub(super) places: Places,
}

/// The role of the last wire message, if the next message depends on it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastRole {
    /// The user, the opening system text, or no message.
    #[default]
    Other,
    Assistant,
    Tool,
}

/// The missing end of the last wire message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    /// The end of its content string.
    Text,
    /// The end of its content array.
    Parts,
}

impl Form for Dialect {
    type State = State;

    fn begin(&self, system: &[&str], page: &mut Page<State>) {
        if !system.is_empty() {
            page.raw(br#"{"role":"#);
            page.json(self.system_role.as_str());
            page.raw(br#","content":"#);
            let text = system.join("\n");
            match self.is_marked {
                true => {
                    page.raw(b"[");
                    page.json(&Piece::Text(&text).wire());
                    page.state.places.system = Some(page.len() - 1);
                    page.raw(b"]");
                }
                false => page.json(&text),
            }
            page.raw(b"}");
        }
    }

    fn push(&self, message: &Message, page: &mut Page<State>) {
        let mut writer = Writer {
            dialect: self,
            page,
        };
        if message.role != Role::Tool {
            writer.release_images();
        }
        if message.role != Role::System {
            writer.close();
        }
        match message.role {
            Role::System => writer.push_update(&message.content),
            Role::User => writer.push_user(&message.content),
            Role::Assistant => writer.push_assistant(&message.content),
            Role::Tool => writer.push_results(&message.content),
        }
    }

    /// Servers refuse a request that ends with an assistant message, or treat it as the start of
    /// the answer. The closing message is therefore a user message.
    fn push_closing(&self, message: &Message, page: &mut Page<State>) {
        let mut writer = Writer {
            dialect: self,
            page,
        };
        writer.release_images();
        writer.push_update(&message.content);
    }

    fn settle(&self, page: &mut Page<State>) {
        Writer {
            dialect: self,
            page,
        }
        .release_images();
    }

    fn close(&self, page: &mut Page<State>) {
        let mut writer = Writer {
            dialect: self,
            page,
        };
        writer.separate_answers();
        writer.close();
    }

    fn tool(&self, tool: &ToolDefinition) -> Value {
        json!({"type": "function", "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": *tool_schema::for_openai(&tool.input_schema, self.tool_schema),
        }})
    }
}

struct Writer<'a> {
    dialect: &'a Dialect,
    page: &'a mut Page<State>,
}

impl Writer<'_> {
    fn push_user(&mut self, content: &[Part]) {
        let pieces = user::pieces(content, self.dialect);
        if pieces.is_empty() {
            return;
        }
        if pieces.iter().all(Piece::is_text) {
            let text = Some(user::joined(&pieces)).filter(|text| !is_blank(text));
            // Without a text, the message only gives the word to the model.
            let text = text.unwrap_or_else(|| CONTINUE.to_owned());
            match self.dialect.is_marked {
                true => self.push_pieces(&[Piece::Note(text)]),
                false => {
                    self.open_user(Open::Text);
                    self.page.unquoted(&text);
                }
            }
            return;
        }
        self.push_pieces(&pieces);
    }

    fn push_pieces(&mut self, pieces: &[Piece<'_>]) {
        self.open_user(Open::Parts);
        for (n, piece) in pieces.iter().filter(|it| !it.is_blank()).enumerate() {
            if n > 0 {
                self.page.raw(b",");
            }
            self.page.json(&piece.wire());
            if self.dialect.is_marked && piece.is_text() {
                self.page.state.places.user = Some(self.page.len() - 1);
            }
        }
    }

    /// An update extends the user message directly before it.
    fn push_update(&mut self, content: &[Part]) {
        let text = mid_conversation::wrapped(content);
        match self.page.state.open {
            Open::Nothing => {
                self.open_user(Open::Text);
                self.page.unquoted(&text);
            }
            Open::Text => {
                self.page.raw(br"\n");
                self.page.unquoted(&text);
            }
            Open::Parts => {
                self.page.raw(b",");
                self.page.json(&Piece::Note(text).wire());
            }
        }
    }

    /// This protocol cannot express provider-executed parts. The history converts the relevant ones
    /// to text before.
    fn push_assistant(&mut self, content: &[Part]) {
        let mut texts: Vec<&str> = Vec::new();
        let mut reasoning = String::new();
        let mut thoughts: Vec<&ReasoningPart> = Vec::new();
        let mut calls: Vec<&ToolCallPart> = Vec::new();
        for part in content {
            match part {
                Part::Text(TextPart { text, .. }) if !is_blank(text) => texts.push(text),
                Part::Reasoning(part) if is_foreign(part) && !is_blank(&part.text) => {
                    texts.push(&part.text);
                }
                Part::Reasoning(part) => {
                    reasoning.push_str(&part.text);
                    thoughts.push(part);
                }
                Part::ToolCall(call) if !call.provider_executed => calls.push(call),
                _ => {}
            }
        }
        // Servers refuse reasoning without an answer.
        if texts.is_empty() && calls.is_empty() {
            return;
        }
        self.separate_answers();
        self.close();
        self.page.separate();
        self.page.state.last = LastRole::Assistant;
        self.page.raw(br#"{"role":"assistant","content":"#);
        if texts.is_empty() {
            self.page.raw(b"null");
        } else {
            self.page.json(&texts.join("\n"));
        }
        self.write_calls(&calls);
        let reasoning = visible(reasoning.into());
        if !reasoning.is_empty() || self.dialect.reasoning_required {
            self.page.raw(b",");
            self.page.json(&self.dialect.reasoning_field);
            self.page.raw(b":");
            self.page.json(&reasoning);
        }
        let server = self.dialect.server;
        if let Some((name, value)) = server.and_then(|it| sealed::replayed(it, &thoughts)) {
            self.page.raw(b",");
            self.page.json(name);
            self.page.raw(b":");
            self.page.json(&value);
        }
        self.page.raw(b"}");
    }

    fn write_calls(&mut self, calls: &[&ToolCallPart]) {
        if calls.is_empty() {
            return;
        }
        self.page.raw(br#","tool_calls":["#);
        for (n, call) in calls.iter().enumerate() {
            if n > 0 {
                self.page.raw(b",");
            }
            self.page.raw(br#"{"id":"#);
            self.page.json(&self.dialect.call_id(&call.id));
            self.page.raw(br#","type":"function","function":{"name":"#);
            self.page.json(&tool_name(&call.name));
            self.page.raw(br#","arguments":"#);
            self.page.json(&call.input.to_string());
            self.page.raw(b"}");
            if let Some(extra) = sealed::extra_content(call) {
                self.page.raw(br#","extra_content":"#);
                self.page.json(&extra);
            }
            self.page.raw(b"}");
        }
        self.page.raw(b"]");
    }

    fn push_results(&mut self, content: &[Part]) {
        for part in content {
            let Part::ToolResult(result) = part else {
                continue;
            };
            if result.provider_executed {
                continue;
            }
            let text = visible(self.result_text(result).into());
            self.page.separate();
            self.page.state.last = LastRole::Tool;
            self.page.raw(br#"{"role":"tool","tool_call_id":"#);
            self.page.json(&self.dialect.call_id(&result.id));
            self.page.raw(br#","content":"#);
            self.page.json(&text);
            self.page.raw(b"}");
        }
    }

    /// Returns the text of a result. Tool messages cannot carry files, so files wait for the end of the sequence.
    fn result_text(&mut self, result: &ToolResultPart) -> String {
        let pieces = match result.result.as_text() {
            Ok(text) => return text.into_owned(),
            Err(pieces) => pieces,
        };
        let mut lines: Vec<String> = Vec::new();
        for piece in pieces {
            match piece {
                ToolContent::Text { text } if is_blank(text) => {}
                ToolContent::Text { text } => lines.push(text.clone()),
                ToolContent::File { uri, mime, name } => {
                    let file = Attachment::new(mime, uri, name.as_deref(), self.dialect.reads);
                    match user::file_piece(file) {
                        Piece::Note(note) => lines.push(note),
                        file => {
                            if !self.page.state.held.is_empty() {
                                self.page.state.held.push(b',');
                            }
                            json::write(&mut self.page.state.held, &file.wire());
                        }
                    }
                }
            }
        }
        lines.join("\n")
    }

    /// Ends a sequence of tool messages. The images of the sequence become a user message.
    fn release_images(&mut self) {
        if !self.page.state.held.is_empty() {
            let held = std::mem::take(&mut self.page.state.held);
            self.open_user(Open::Parts);
            self.page.raw(&held);
        }
    }

    /// Adds a user message after an answer that another answer or the end of the request would
    /// follow. Servers refuse both, or continue the answer as if it were incomplete.
    fn separate_answers(&mut self) {
        if self.page.state.last == LastRole::Assistant {
            self.open_user(Open::Text);
            self.page.unquoted(CONTINUE);
        }
    }

    fn open_user(&mut self, open: Open) {
        self.page.raw(self.before_user());
        self.page.raw(open.opening());
        self.page.state.last = LastRole::Other;
        self.page.state.open = open;
    }

    fn close(&mut self) {
        self.page.raw(self.page.state.open.closing());
        self.page.state.open = Open::Nothing;
    }

    fn before_user(&self) -> &'static [u8] {
        if self.dialect.mistral && self.page.state.last == LastRole::Tool {
            BRIDGE
        } else if self.page.is_begun() {
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

/// True for reasoning that another protocol produced, even for a model of the same name. It must not be
/// replayed as reasoning of this protocol. Reasoning without metadata is plain text and suits every protocol.
fn is_foreign(part: &ReasoningPart) -> bool {
    part.provider_metadata.as_ref().is_some_and(|metadata| {
        !metadata.is_empty() && !OWN_NAMESPACES.iter().any(|own| metadata.contains_key(*own))
    })
}
