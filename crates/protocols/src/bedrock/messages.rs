//! The messages of a conversation: the user and the assistant in turn.
//!
//! The user begins and has the last word. Results of tools directly follow the message with their calls. Consecutive
//! messages of one side become one message, which stays open for further content.

use opencode_llm::canonical::request::{
    Message, Part, ReasoningPart, Role, ToolCallPart, ToolContent, ToolDefinition, ToolResultPart,
    ToolResultValue,
};
use serde_json::{Value, json};

use super::style::Style;
use super::{REDACTED, SIGNATURE, text_member};
use crate::alternating::{self, Alternating, Side};
use crate::blank::is_blank;
use crate::identifiers::{plain, short, tool_name};
use crate::media::Attachment;
use crate::transcript::{Form, Page};
use crate::{mid_conversation, tool_schema};

/// The text of a result without content. The server refuses an empty one.
const NOTHING: &str = "The tool said nothing.";

/// The text beside a document without a text. The server refuses a document alone.
const DOCUMENT_ALONE: &str = "The user attached a document.";

/// Maximum length of the name of a document, without its number.
const MAX_NAME: usize = 180;

/// Maximum length of the id of a call.
const MAX_CALL_ID: usize = 64;

/// State between two messages.
#[derive(Clone, Default)]
pub(super) struct State {
    side: Side,
    /// The position after the last system text.
    pub(super) system: Option<usize>,
    /// The position after the last text of the newest prompt.
    pub(super) user: Option<usize>,
    /// Number of documents so far. The server refuses two documents with the same name.
    documents: usize,
}

impl Alternating for State {
    const USER: &'static [u8] = br#"{"role":"user","content":["#;
    const MODEL: &'static [u8] = br#"{"role":"assistant","content":["#;

    fn side(&mut self) -> &mut Side {
        &mut self.side
    }
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
                page.json(&json!({"text": text}));
            }
            page.state.system = Some(page.len());
            page.raw(b"],");
        }
        page.raw(br#""messages":["#);
    }

    fn push(&self, message: &Message, page: &mut Page<State>) {
        let mut writer = Writer { style: self, page };
        match message.role {
            Role::System => {
                let text = mid_conversation::wrapped(&message.content);
                writer.write(Side::User, &json!({"text": text}));
            }
            Role::User => writer.push_user(&message.content),
            Role::Assistant => writer.push_assistant(&message.content),
            Role::Tool => writer.push_results(&message.content),
        }
    }

    /// Newer models refuse an assistant message at the end of a request, so the closing message is a user message.
    fn push_closing(&self, message: &Message, page: &mut Page<State>) {
        let text = mid_conversation::wrapped(&message.content);
        let mut writer = Writer { style: self, page };
        writer.write(Side::User, &json!({"text": text}));
    }

    fn settle(&self, _: &mut Page<State>) {}

    fn close(&self, page: &mut Page<State>) {
        alternating::close(page);
    }

    fn tool(&self, tool: &ToolDefinition) -> Value {
        let schema = tool_schema::for_anthropic(&tool.input_schema, self.tool_schema);
        json!({"toolSpec": {
            "name": tool.name,
            // The server refuses an empty description.
            "description": if is_blank(&tool.description) { &tool.name } else { &tool.description },
            "inputSchema": {"json": *schema},
        }})
    }
}

struct Writer<'a> {
    style: &'a Style,
    page: &'a mut Page<State>,
}

impl Writer<'_> {
    fn push_user(&mut self, content: &[Part]) {
        let mut place = None;
        let documents = self.page.state.documents;
        let mut has_text = false;
        for part in content {
            let block = match part {
                Part::Text(text) if is_blank(&text.text) => continue,
                Part::Text(text) => json!({"text": text.text}),
                Part::Media(media) => self.file_block(Attachment::of(media, self.style.reads)),
                _ => continue,
            };
            has_text |= block.get("text").is_some();
            self.write(Side::User, &block);
            place = Some(self.page.len());
        }
        if self.page.state.documents > documents && !has_text {
            self.write(Side::User, &json!({"text": DOCUMENT_ALONE}));
            place = Some(self.page.len());
        }
        self.page.state.user = place.or(self.page.state.user);
    }

    /// Writes calls last, because their results must follow them.
    fn push_assistant(&mut self, content: &[Part]) {
        let mut calls = Vec::new();
        let mut thoughts = Vec::new();
        for part in content {
            let block = match part {
                Part::Text(text) if is_blank(&text.text) => continue,
                Part::Text(text) => json!({"text": text.text}),
                Part::Reasoning(part) => match thought(part) {
                    Some((block, true)) => {
                        thoughts.push(block);
                        continue;
                    }
                    Some((block, false)) => block,
                    None => continue,
                },
                Part::ToolCall(call) if !call.provider_executed => {
                    calls.push(call_block(call));
                    continue;
                }
                _ => continue,
            };
            self.write_all(&mut thoughts);
            self.write(Side::Model, &block);
        }
        // The server refuses a message that ends with reasoning.
        if !calls.is_empty() {
            self.write_all(&mut thoughts);
            self.write_all(&mut calls);
        }
    }

    fn write_all(&mut self, blocks: &mut Vec<Value>) {
        for block in blocks.drain(..) {
            self.write(Side::Model, &block);
        }
    }

    fn push_results(&mut self, content: &[Part]) {
        for part in content {
            if let Part::ToolResult(result) = part
                && !result.provider_executed
            {
                let block = self.result_block(result);
                self.write(Side::User, &block);
            }
        }
    }

    fn result_block(&mut self, result: &ToolResultPart) -> Value {
        let mut content: Vec<Value> = match result.result.as_text() {
            Ok(text) if is_blank(&text) => Vec::new(),
            Ok(text) => vec![json!({"text": text})],
            Err(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    ToolContent::Text { text } if is_blank(text) => None,
                    ToolContent::Text { text } => Some(json!({"text": text})),
                    ToolContent::File { uri, mime, name } => {
                        let reads = self.style.reads;
                        let file = Attachment::new(mime, uri, name.as_deref(), reads);
                        Some(self.file_block(file))
                    }
                })
                .collect(),
        };
        if content.is_empty() {
            content.push(json!({"text": NOTHING}));
        }
        let failed = matches!(result.result, ToolResultValue::Error(_));
        let status = if failed { "error" } else { "success" };
        let mut block = json!({"toolUseId": call_id(&result.id), "content": content});
        if self.style.reads_status {
            block["status"] = status.into();
        }
        json!({ "toolResult": block })
    }

    fn file_block(&mut self, file: Attachment<'_>) -> Value {
        match file {
            Attachment::Image(file) => {
                let format = file.media_type.strip_prefix("image/").unwrap_or("png");
                json!({"image": {"format": format, "source": {"bytes": file.base64}}})
            }
            Attachment::Pdf { filename, file } => {
                self.page.state.documents += 1;
                let name = document_name(filename, self.page.state.documents);
                json!({"document": {
                    "format": "pdf", "name": name, "source": {"bytes": file.base64},
                }})
            }
            // The protocol carries no sounds.
            Attachment::Sound(file) => json!({"text": Attachment::replaced(file)}),
            Attachment::Note(note) => json!({"text": note}),
        }
    }

    fn write(&mut self, side: Side, part: &Value) {
        alternating::write(self.page, side, part);
    }
}

/// Converts reasoning. Returns `true` with a block that the provider signed. Other reasoning becomes text.
fn thought(part: &ReasoningPart) -> Option<(Value, bool)> {
    let metadata = part.provider_metadata.as_ref();
    if let Some(data) = text_member(metadata, REDACTED) {
        return Some((json!({"reasoningContent": {"redactedContent": data}}), true));
    }
    match text_member(metadata, SIGNATURE) {
        Some(signature) => {
            let text = json!({"text": part.text, "signature": signature});
            Some((json!({"reasoningContent": {"reasoningText": text}}), true))
        }
        None if is_blank(&part.text) => None,
        None => Some((json!({"text": part.text}), false)),
    }
}

fn call_block(call: &ToolCallPart) -> Value {
    let input = match &call.input {
        Value::Object(_) => call.input.clone(),
        other => json!({"value": other}),
    };
    json!({"toolUse": {
        "toolUseId": call_id(&call.id), "name": tool_name(&call.name), "input": input,
    }})
}

/// Returns an id in the form that the server accepts.
fn call_id(id: &str) -> String {
    short(&plain(id), MAX_CALL_ID).into_owned()
}

/// True if a name ends like that of a later document.
fn is_numbered(name: &str) -> bool {
    let number = name.rsplit_once('-').map_or("", |(_, number)| number);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the name of the `nth` document. The server accepts only some characters, and no extension.
fn document_name(filename: &str, nth: usize) -> String {
    let stem = filename.rsplit_once('.').map_or(filename, |(stem, _)| stem);
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '(' | ')' | '[' | ']');
    let kept = stem.chars().map(|c| if is_kept(c) { c } else { '-' });
    let name: String = kept.take(MAX_NAME).collect();
    match (name.as_str(), nth) {
        ("", nth) => format!("document-{nth}"),
        // The name of a later document could be the same.
        (name, 1) if !is_numbered(name) => name.to_owned(),
        (name, nth) => format!("{name}-{nth}"),
    }
}
