//! The items of a conversation.
//!
//! The last user message stays open, because a Mid-Conversation System Message may be appended to it.

use opencode_llm::canonical::request::{
    Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolContent, ToolDefinition,
    ToolResultPart, ToolResultValue,
};
use serde_json::{Value, json};

use super::style::Style;
use super::{ENCRYPTED, ITEM_ID, PHASE, PHASES, hosted, member};
use crate::blank::{is_blank, visible};
use crate::identifiers::{short, tool_name};
use crate::media::Attachment;
use crate::protocol::CONTINUE;
use crate::transcript::{Form, Page};
use crate::{mid_conversation, tool_schema};

/// Maximum length of a call identifier, in characters. The server refuses longer ones, which other servers create.
const MAX_CALL_ID: usize = 64;

/// State between two messages.
#[derive(Clone, Default)]
pub(super) struct State {
    /// The last item is a user message without its end.
    is_open: bool,
    /// The last item belongs to an answer.
    ends_in_answer: bool,
}

impl Form for Style {
    type State = State;

    fn begin(&self, system: &[&str], page: &mut Page<State>) {
        if !system.is_empty() {
            page.json(&self.system_item(&system.join("\n")));
        }
    }

    fn push(&self, message: &Message, page: &mut Page<State>) {
        match message.role {
            Role::System => self.push_update(&message.content, page),
            Role::User => self.push_user(&message.content, page),
            Role::Assistant => {
                let items = self.answer_items(&message.content);
                // Bytes that were sent do not change, even if this answer has no items.
                close(page);
                if !items.is_empty() {
                    separate_answers(page);
                }
                for item in &items {
                    push_item(item, page);
                    page.state.ends_in_answer = true;
                }
            }
            Role::Tool => {
                for part in message.content.iter() {
                    if let Part::ToolResult(result) = part
                        && !result.provider_executed
                    {
                        push_item(&self.output(result), page);
                    }
                }
            }
        }
    }

    /// The server would treat an assistant message at the end as an answer, so the closing message
    /// is a user message.
    fn push_closing(&self, message: &Message, page: &mut Page<State>) {
        push_piece(
            &input_text(&mid_conversation::wrapped(&message.content)),
            page,
        );
    }

    fn settle(&self, _: &mut Page<State>) {}

    fn close(&self, page: &mut Page<State>) {
        separate_answers(page);
        close(page);
    }

    fn tool(&self, tool: &ToolDefinition) -> Value {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": *tool_schema::for_openai(&tool.input_schema, self.tool_schema),
            "strict": false,
        })
    }
}

impl Style {
    fn system_item(&self, text: &str) -> Value {
        json!({"role": self.system_role.as_str(), "content": text})
    }

    fn push_user(&self, content: &[Part], page: &mut Page<State>) {
        let pieces = content.iter().filter_map(|part| match part {
            Part::Text(text) if is_blank(&text.text) => None,
            Part::Text(text) => Some(input_text(&text.text)),
            Part::Media(media) => Some(input_file(Attachment::of(media, self.reads))),
            _ => None,
        });
        let mut pieces: Vec<Value> = pieces.collect();
        if pieces.is_empty() && !content.is_empty() {
            // Without a text, the message only gives the word to the model.
            pieces.push(input_text(CONTINUE));
        }
        close(page);
        for piece in &pieces {
            push_piece(piece, page);
        }
    }

    /// Writes an update. A model that does not support system messages in the middle of a
    /// conversation receives it as part of the user message directly before it.
    fn push_update(&self, content: &[Part], page: &mut Page<State>) {
        if self.native_system {
            let texts: Vec<&str> = mid_conversation::texts(content).collect();
            let text = texts.join("\n");
            if !is_blank(&text) {
                push_item(&self.system_item(&text), page);
            }
        } else {
            push_piece(&input_text(&mid_conversation::wrapped(content)), page);
        }
    }

    /// Returns the items of an answer, in order. Reasoning precedes the items that follow from it.
    fn answer_items(&self, content: &[Part]) -> Vec<Value> {
        let mut items = Vec::new();
        for part in content {
            match part {
                Part::Text(text) if is_blank(&text.text) => {}
                Part::Text(text) => self.push_text(text, &mut items),
                Part::Reasoning(part) => self.push_reasoning(part, &mut items),
                Part::ToolCall(call) if call.provider_executed => {
                    self.push_hosted(call, content, &mut items);
                }
                Part::ToolCall(call) => items.push(Item::Whole(json!({
                    "type": "function_call",
                    "call_id": short(&call.id, MAX_CALL_ID),
                    "name": tool_name(&call.name),
                    "arguments": call.input.to_string(),
                }))),
                Part::ToolResult(_) | Part::Media(_) => {}
            }
        }
        let is_sent = |item: &Item| {
            !matches!(
                item,
                Item::Reasoning {
                    encrypted: None,
                    ..
                }
            )
        };
        items.retain(is_sent);
        // The server refuses reasoning without a following item.
        while items.last().is_some_and(Item::is_thought) {
            items.pop();
        }
        items.into_iter().map(Item::wire).collect()
    }

    /// Adds a text. Texts of one item stay one item.
    fn push_text(&self, text: &TextPart, items: &mut Vec<Item>) {
        let metadata = text.provider_metadata.as_ref();
        let id = member(metadata, ITEM_ID).filter(|_| self.stores);
        let phase = member(metadata, PHASE).filter(|phase| PHASES.contains(phase));
        let part = text.text.clone();
        if let Some(Item::Text {
            id: last_id,
            phase: last_phase,
            content,
        }) = items.last_mut()
            && (last_id.as_deref(), last_phase.as_deref()) == (id, phase)
        {
            content.push(part);
            return;
        }
        items.push(Item::Text {
            id: id.map(str::to_owned),
            phase: phase.map(str::to_owned),
            content: vec![part],
        });
    }

    /// Adds reasoning. Reasoning of other providers cannot be represented and is omitted.
    fn push_reasoning(&self, part: &ReasoningPart, items: &mut Vec<Item>) {
        let metadata = part.provider_metadata.as_ref();
        let Some(id) = member(metadata, ITEM_ID) else {
            return;
        };
        if self.stores {
            refer(id, true, items);
            return;
        }
        let encrypted = member(metadata, ENCRYPTED).map(str::to_owned);
        let thought = json!({"type": "summary_text", "text": part.text});
        let thought = (!is_blank(&part.text)).then_some(thought);
        let known = items.iter_mut().find_map(|item| match item {
            Item::Reasoning {
                id: known,
                summary,
                encrypted,
            } if known == id => Some((summary, encrypted)),
            _ => None,
        });
        match known {
            Some((summary, last)) => {
                summary.extend(thought);
                if encrypted.is_some() {
                    *last = encrypted;
                }
            }
            None => items.push(Item::Reasoning {
                id: id.to_owned(),
                summary: thought.into_iter().collect(),
                encrypted,
            }),
        }
    }

    fn push_hosted(&self, call: &ToolCallPart, content: &[Part], items: &mut Vec<Item>) {
        if self.stores {
            if let Some(id) = member(call.provider_metadata.as_ref(), ITEM_ID) {
                refer(id, false, items);
            }
            return;
        }
        let result = content.iter().find_map(|part| match part {
            Part::ToolResult(result) if result.id == call.id => Some(result),
            _ => None,
        });
        // Items that another protocol recorded are not valid here.
        let own = result.filter(|it| member(it.provider_metadata.as_ref(), ITEM_ID).is_some());
        if let Some(ToolResultValue::Json(item)) = own.map(|result| &result.result) {
            let kind = item.get("type").and_then(Value::as_str);
            let is_taken = kind.is_some_and(|kind| self.replay.takes(kind));
            let repeated = hosted::repeated(item).filter(|_| is_taken);
            items.extend(repeated.map(Item::Whole));
        }
    }

    fn output(&self, result: &ToolResultPart) -> Value {
        let output = match result.result.as_text() {
            Ok(text) => Value::from(visible(text)),
            Err(pieces) => {
                let parts = pieces.iter().filter_map(|piece| match piece {
                    ToolContent::Text { text } if is_blank(text) => None,
                    ToolContent::Text { text } => Some(input_text(text)),
                    ToolContent::File { uri, mime, name } => {
                        let file = Attachment::new(mime, uri, name.as_deref(), self.reads);
                        Some(input_file(file))
                    }
                });
                let parts: Vec<Value> = parts.collect();
                match parts.is_empty() {
                    true => "".into(),
                    false => parts.into(),
                }
            }
        };
        json!({"type": "function_call_output", "call_id": short(&result.id, MAX_CALL_ID), "output": output})
    }
}

/// An item of an answer. Later parts may extend it.
enum Item {
    Whole(Value),
    /// An item that the provider stores.
    Reference {
        id: String,
        is_thought: bool,
    },
    Text {
        id: Option<String>,
        phase: Option<String>,
        content: Vec<String>,
    },
    Reasoning {
        id: String,
        summary: Vec<Value>,
        encrypted: Option<String>,
    },
}

impl Item {
    const fn is_thought(&self) -> bool {
        matches!(
            self,
            Self::Reasoning { .. }
                | Self::Reference {
                    is_thought: true,
                    ..
                }
        )
    }

    /// Returns the item in wire form. Texts without an identifier become one plain text, because
    /// separate parts are valid only in an item with an identifier.
    fn wire(self) -> Value {
        match self {
            Self::Whole(item) => item,
            Self::Reference { id, .. } => json!({"type": "item_reference", "id": id}),
            Self::Text { id, phase, content } => {
                let mut item = match id {
                    None => json!({"role": "assistant", "content": content.join("\n")}),
                    Some(id) => {
                        let parts = content.iter().map(
                            |text| json!({"type": "output_text", "text": text, "annotations": []}),
                        );
                        json!({
                            "type": "message", "id": id, "status": "completed",
                            "role": "assistant", "content": parts.collect::<Value>(),
                        })
                    }
                };
                if let Some(phase) = phase {
                    item["phase"] = phase.into();
                }
                item
            }
            Self::Reasoning {
                id,
                summary,
                encrypted,
            } => json!({
                "type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted,
            }),
        }
    }
}

/// Adds a reference to a stored item, once.
fn refer(id: &str, is_thought: bool, items: &mut Vec<Item>) {
    let is_known = |item: &Item| matches!(item, Item::Reference { id: known, .. } if known == id);
    if !items.iter().any(is_known) {
        let id = id.to_owned();
        items.push(Item::Reference { id, is_thought });
    }
}

/// Adds a user message after an answer that another answer or the end of the request would follow.
fn separate_answers(page: &mut Page<State>) {
    if page.state.ends_in_answer {
        push_piece(&input_text(CONTINUE), page);
        close(page);
    }
}

fn push_item(item: &Value, page: &mut Page<State>) {
    close(page);
    page.separate();
    page.json(item);
    page.state.ends_in_answer = false;
}

/// Extends the open user message, or starts one.
fn push_piece(piece: &Value, page: &mut Page<State>) {
    page.separate();
    if !page.state.is_open {
        page.raw(br#"{"role":"user","content":["#);
        page.state.is_open = true;
        page.state.ends_in_answer = false;
    }
    page.json(piece);
}

fn close(page: &mut Page<State>) {
    if page.state.is_open {
        page.raw(b"]}");
        page.state.is_open = false;
    }
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn input_file(file: Attachment<'_>) -> Value {
    match file {
        Attachment::Image(file) => {
            json!({"type": "input_image", "image_url": file.data_url(), "detail": "auto"})
        }
        Attachment::Pdf { filename, file } => {
            json!({"type": "input_file", "filename": filename, "file_data": file.data_url()})
        }
        // The protocol carries no sounds.
        Attachment::Sound(file) => input_text(&Attachment::replaced(file)),
        Attachment::Note(note) => input_text(&note),
    }
}
