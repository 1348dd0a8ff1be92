//! The messages of a conversation, in the order that the server requires.
//!
//! User and assistant messages alternate, and the user begins. Tool results directly follow the
//! message with their calls, before other content of the user. Consecutive messages of one side
//! therefore become one message, which stays open for further content.

use opencode_llm::canonical::request::{
    Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolContent, ToolDefinition,
    ToolResultPart, ToolResultValue,
};
use serde_json::{Value, json};

use super::cache::Places;
use super::hosted::{self, Repeated};
use super::style::Style;
use super::{member, text_member};
use crate::blank::{is_blank, visible};
use crate::identifiers::{plain, tool_name};
use crate::media::Attachment;
use crate::protocol::CONTINUE;
use crate::transcript::{Form, Page};
use crate::{mid_conversation, tool_schema};

/// The assistant text between a system message and another user message.
const NOTED: &str = "Understood.";

/// The text of a failure without a message. The server refuses an empty one.
const FAILED: &str = "The tool failed and said nothing.";

/// State between two messages.
#[derive(Clone, Default)]
pub(super) struct State {
    open: Open,
    /// The last message belongs to the assistant and ends in a provider-executed call.
    ends_in_hosted: bool,
    /// The last blocks of a paused answer without results, if that answer is the last message. Only
    /// the next request contains them, because their results may arrive in its answer.
    paused: Option<Vec<Value>>,
    /// The positions of possible cache marks.
    pub(super) places: Places,
}

/// The side of the last message, which lacks its end.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    User,
    Assistant,
    System,
}

impl Form for Style {
    type State = State;

    fn begin(&self, system: &[&str], page: &mut Page<State>) {
        let texts: Vec<&&str> = system.iter().filter(|text| !is_blank(text)).collect();
        if !texts.is_empty() {
            page.raw(br#""system":["#);
            for (n, text) in texts.into_iter().enumerate() {
                if n > 0 {
                    page.raw(b",");
                }
                page.json(&text_block(text));
            }
            page.state.places.system = Some(page.len() - 1);
            page.raw(b"],");
        }
        page.raw(br#""messages":["#);
    }

    fn push(&self, message: &Message, page: &mut Page<State>) {
        let mut writer = Writer { style: self, page };
        match message.role {
            Role::System => writer.push_update(&message.content),
            Role::User => writer.push_user(&message.content),
            Role::Assistant => writer.push_assistant(message),
            Role::Tool => writer.push_results(&message.content),
        }
    }

    /// Newer models refuse an assistant message at the end of a request, so the closing message is a user message.
    fn push_closing(&self, message: &Message, page: &mut Page<State>) {
        let text = mid_conversation::wrapped(&message.content);
        let mut writer = Writer { style: self, page };
        writer.write(Open::User, &text_block(&text));
    }

    fn settle(&self, _: &mut Page<State>) {}

    /// The server continues a paused answer if a request ends with it. Every other request ends
    /// with a user message.
    fn close(&self, page: &mut Page<State>) {
        let mut writer = Writer { style: self, page };
        let is_resumed = writer.write_paused();
        let open = writer.page.state.open;
        if !is_resumed && matches!(open, Open::Nothing | Open::Assistant) {
            writer.write(Open::User, &text_block(CONTINUE));
        }
        writer.page.raw(b"]}");
    }

    fn tool(&self, tool: &ToolDefinition) -> Value {
        json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": *tool_schema::for_anthropic(&tool.input_schema, self.tool_schema),
        })
    }
}

struct Writer<'a> {
    style: &'a Style,
    page: &'a mut Page<State>,
}

impl Writer<'_> {
    fn push_user(&mut self, content: &[Part]) {
        let mut place = None;
        let mut is_at_text = false;
        for part in content {
            let (block, is_text) = match part {
                Part::Text(text) if is_blank(&text.text) => continue,
                Part::Text(text) => (text_block(&text.text), true),
                Part::Media(media) => (file_block(Attachment::of(media, self.style.reads)), false),
                _ => continue,
            };
            let end = self.write(Open::User, &block);
            if is_text || !is_at_text {
                (place, is_at_text) = (Some(end), is_text);
            }
        }
        self.mark(Role::User, place);
    }

    /// Writes an update. A model that does not support system messages in the middle of a
    /// conversation receives it as part of the user message before it.
    fn push_update(&mut self, content: &[Part]) {
        let state = &self.page.state;
        let fits = state.open == Open::User || state.ends_in_hosted;
        if self.style.native_system && fits {
            let texts: Vec<&str> = mid_conversation::texts(content).collect();
            let text = texts.join("\n");
            if !is_blank(&text) {
                self.write(Open::System, &text_block(&text));
            }
        } else {
            let text = mid_conversation::wrapped(content);
            self.write(Open::User, &text_block(&text));
        }
    }

    /// Writes calls last, because their results must follow them. Defers reasoning until the next
    /// block, because the server refuses a message that ends with reasoning.
    fn push_assistant(&mut self, message: &Message) {
        let content = &message.content;
        let mut place = None;
        let mut is_at_text = false;
        let mut calls = Vec::new();
        let mut thoughts = Vec::new();
        let mut ends_in_hosted = false;
        let mut unanswered = Vec::new();
        for part in content.iter() {
            let (block, is_text, is_hosted) = match part {
                Part::Text(text) if is_blank(&text.text) => continue,
                Part::Text(text) => (answer_text(text), true, false),
                Part::Reasoning(part) => match thought(part) {
                    ReasoningForm::Nothing => continue,
                    ReasoningForm::Native(block) => {
                        thoughts.push(block);
                        continue;
                    }
                    ReasoningForm::Text(block) => (block, true, false),
                },
                Part::ToolCall(call) if !call.provider_executed => {
                    calls.push(call_block("tool_use", call));
                    continue;
                }
                Part::ToolCall(call) => match hosted::repeated(call, content) {
                    Repeated::Answered(kind, result) => {
                        self.write_thoughts(&mut thoughts);
                        self.write_assistant_block(&call_block("server_tool_use", call));
                        let block = json!({
                            "type": kind,
                            "tool_use_id": plain(&call.id),
                            "content": result,
                        });
                        (block, false, true)
                    }
                    Repeated::Call => {
                        unanswered.push(call_block("server_tool_use", call));
                        continue;
                    }
                    Repeated::Nothing => continue,
                },
                Part::ToolResult(_) | Part::Media(_) => continue,
            };
            self.write_thoughts(&mut thoughts);
            unanswered.clear();
            let end = self.write_assistant_block(&block);
            ends_in_hosted = is_hosted;
            if is_text || !is_at_text {
                (place, is_at_text) = (Some(end), is_text);
            }
        }
        for call in &calls {
            self.write_thoughts(&mut thoughts);
            let end = self.write_assistant_block(call);
            ends_in_hosted = false;
            if !is_at_text {
                place = Some(end);
            }
        }
        self.mark(Role::Assistant, place);
        self.page.state.ends_in_hosted = ends_in_hosted;
        if !unanswered.is_empty() {
            thoughts.append(&mut unanswered);
            unanswered = std::mem::take(&mut thoughts);
        }
        // The server refuses a last assistant message that ends in reasoning or whitespace.
        let is_whole = calls.is_empty() && thoughts.is_empty() && !ends_in_space(content);
        let is_last = self.page.state.open == Open::Assistant || !unanswered.is_empty();
        if message.is_paused && is_whole && is_last {
            self.page.state.paused = Some(unanswered);
        }
    }

    /// Writes the end of a paused answer. Returns true if the conversation ends with one.
    fn write_paused(&mut self) -> bool {
        let Some(blocks) = self.page.state.paused.take() else {
            return false;
        };
        for block in &blocks {
            self.write_assistant_block(block);
        }
        true
    }

    fn push_results(&mut self, content: &[Part]) {
        let mut place = None;
        for part in content {
            let Part::ToolResult(result) = part else {
                continue;
            };
            if !result.provider_executed {
                let block = self.result_block(result);
                place = Some(self.write(Open::User, &block));
            }
        }
        self.mark(Role::Tool, place);
    }

    fn result_block(&self, result: &ToolResultPart) -> Value {
        let content = match result.result.as_text() {
            Ok(text) => Value::from(visible(text)),
            Err(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    ToolContent::Text { text } if is_blank(text) => None,
                    ToolContent::Text { text } => Some(text_block(text)),
                    ToolContent::File { uri, mime, name } => {
                        let name = name.as_deref();
                        let reads = self.style.reads;
                        Some(file_block(Attachment::new(mime, uri, name, reads)))
                    }
                })
                .collect(),
        };
        let id = plain(&result.id);
        let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if matches!(result.result, ToolResultValue::Error(_)) {
            block["is_error"] = true.into();
            if block["content"].as_str().is_some_and(is_blank) {
                block["content"] = FAILED.into();
            }
        }
        block
    }

    /// Writes the deferred reasoning. The server accepts no cache marks on it.
    fn write_thoughts(&mut self, thoughts: &mut Vec<Value>) {
        for block in thoughts.drain(..) {
            self.write_assistant_block(&block);
        }
    }

    /// Writes a block of the assistant. The conversation never begins with the assistant.
    fn write_assistant_block(&mut self, block: &Value) -> usize {
        if self.page.state.open == Open::Nothing {
            self.write(Open::User, &text_block(CONTINUE));
        }
        self.write(Open::Assistant, block)
    }

    /// Writes a block into a message of this side and returns the position of its end.
    fn write(&mut self, side: Open, block: &Value) -> usize {
        let open = self.page.state.open;
        if open == Open::System && side != Open::Assistant {
            self.write(Open::Assistant, &text_block(NOTED));
        }
        let open = self.page.state.open;
        if open == side {
            self.page.raw(b",");
        } else {
            if open != Open::Nothing {
                self.page.raw(b"]},");
            }
            self.page.raw(side.opening());
        }
        self.page.state.open = side;
        self.page.state.ends_in_hosted = false;
        self.page.state.paused = None;
        self.page.json(block);
        self.page.len() - 1
    }

    fn mark(&mut self, role: Role, place: Option<usize>) {
        if let Some(at) = place {
            self.page.state.places.add(role, at);
        }
    }
}

impl Open {
    const fn opening(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::User => br#"{"role":"user","content":["#,
            Self::Assistant => br#"{"role":"assistant","content":["#,
            Self::System => br#"{"role":"system","content":["#,
        }
    }
}

fn ends_in_space(content: &[Part]) -> bool {
    match content.last() {
        Some(Part::Text(text)) => text.text.ends_with(char::is_whitespace),
        _ => false,
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn file_block(file: Attachment<'_>) -> Value {
    match file {
        Attachment::Image(file) => json!({"type": "image", "source": {
            "type": "base64", "media_type": file.media_type, "data": file.base64,
        }}),
        Attachment::Pdf { filename, file } => json!({"type": "document", "source": {
            "type": "base64", "media_type": file.media_type, "data": file.base64,
        }, "title": filename}),
        // The protocol carries no sounds.
        Attachment::Sound(file) => text_block(&Attachment::replaced(file)),
        Attachment::Note(note) => text_block(&note),
    }
}

fn answer_text(text: &TextPart) -> Value {
    let mut block = text_block(&text.text);
    if let Some(given) = member(text.provider_metadata.as_ref(), "citations") {
        let citations = hosted::citations(given);
        if !citations.is_empty() {
            block["citations"] = citations.into();
        }
    }
    block
}

/// The wire form of reasoning.
enum ReasoningForm {
    Nothing,
    /// The block that the provider signed.
    Native(Value),
    Text(Value),
}

/// Converts reasoning. The server accepts only reasoning that it signed; other reasoning becomes text.
fn thought(part: &ReasoningPart) -> ReasoningForm {
    let metadata = part.provider_metadata.as_ref();
    if let Some(data) = text_member(metadata, "redactedData") {
        return ReasoningForm::Native(json!({"type": "redacted_thinking", "data": data}));
    }
    match text_member(metadata, "signature") {
        Some(signature) => ReasoningForm::Native(
            json!({"type": "thinking", "thinking": part.text, "signature": signature}),
        ),
        None if is_blank(&part.text) => ReasoningForm::Nothing,
        None => ReasoningForm::Text(text_block(&part.text)),
    }
}

fn call_block(kind: &str, call: &ToolCallPart) -> Value {
    // The server accepts only objects.
    let input = match &call.input {
        Value::Object(_) => call.input.clone(),
        other => json!({"value": other}),
    };
    json!({"type": kind, "id": plain(&call.id), "name": tool_name(&call.name), "input": input})
}
