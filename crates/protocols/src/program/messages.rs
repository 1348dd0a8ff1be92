//! The messages of a conversation.

use opencode_llm::canonical::model::{ResolvedModel, ToolSchema};
use opencode_llm::canonical::request::{
    Media, Message, Part, Role, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue,
};
use serde_json::{Value, json};

use crate::blank::is_blank;
use crate::generated_file::GENERATED_FILE;
use crate::identifiers::tool_name;
use crate::media::{Attachment, Reads};
use crate::protocol::CONTINUE;
use crate::transcript::{Form, Page};
use crate::{mid_conversation, tool_schema};

/// The types of sounds that a model of the program may receive.
const SOUNDS: &[&str] = &["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"];

/// The role of the last message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LastRole {
    /// There is no message of a role other than the system.
    #[default]
    Nothing,
    /// The model, which has finished.
    Assistant,
    /// The user, a tool, or the model in an answer that it continues.
    Other,
}

/// The form of messages for one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProgramForm {
    reads: Reads,
    /// True if the model accepts system messages in the middle of a conversation.
    native_updates: bool,
    /// The subset of JSON Schema that the model requires.
    tool_schema: ToolSchema,
}

impl ProgramForm {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        Self {
            reads: Reads::of(&model.capabilities).with_sounds(&model.capabilities, SOUNDS),
            native_updates: model.compatibility.mid_conversation_system == Some(true),
            tool_schema: tool_schema::subset(model),
        }
    }

    fn parts(&self, content: &[Part]) -> Vec<Value> {
        let parts = content.iter().filter(|part| !is_empty(part));
        parts.map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Part) -> Value {
        match part {
            Part::Text(_) | Part::Reasoning(_) => json!(part),
            Part::ToolCall(call) => {
                let mut written = named(json!(part), &call.name);
                // Some providers accept only objects.
                if !call.input.is_object() {
                    written["input"] = json!({"value": call.input});
                }
                written
            }
            Part::Media(Media {
                media_type,
                data,
                filename,
            }) => self.file(media_type, data, filename.as_deref()),
            Part::ToolResult(result) => self.result(result),
        }
    }

    /// Returns a file part, or a text if the model cannot read the file.
    fn file(&self, media_type: &str, data: &str, name: Option<&str>) -> Value {
        match Attachment::new(media_type, data, name, self.reads) {
            Attachment::Image(file) | Attachment::Sound(file) => match name {
                Some(name) => {
                    json!({"type": "file", "mediaType": file.media_type, "data": file.base64, "filename": name})
                }
                None => json!({"type": "file", "mediaType": file.media_type, "data": file.base64}),
            },
            Attachment::Pdf { filename, file } => {
                json!({"type": "file", "mediaType": file.media_type, "data": file.base64, "filename": filename})
            }
            Attachment::Note(text) => json!({"type": "text", "text": text}),
        }
    }

    fn result(&self, result: &ToolResultPart) -> Value {
        let ToolResultValue::Content(pieces) = &result.result else {
            let mut result = result.clone();
            if let ToolResultValue::Text(text) = &mut result.result
                && is_blank(text)
            {
                text.clear();
            }
            let name = result.name.clone();
            return named(json!(Part::ToolResult(result)), &name);
        };
        let pieces = pieces.iter().filter_map(|piece| match piece {
            ToolContent::Text { text } if is_blank(text) => None,
            ToolContent::Text { text } => Some(json!({"type": "text", "text": text})),
            ToolContent::File { uri, mime, name } => Some(self.file(mime, uri, name.as_deref())),
        });
        let mut written = json!({"type": "tool-result", "id": result.id});
        written["name"] = tool_name(&result.name).into();
        let pieces: Vec<Value> = pieces.collect();
        written["result"] = match pieces.is_empty() {
            true => json!({"type": "text", "value": ""}),
            false => json!({"type": "content", "value": pieces}),
        };
        written["providerExecuted"] = result.provider_executed.into();
        if let Some(metadata) = &result.provider_metadata {
            written["providerMetadata"] = json!(metadata);
        }
        written
    }
}

impl Form for ProgramForm {
    type State = LastRole;

    fn begin(&self, system: &[&str], page: &mut Page<LastRole>) {
        if !system.is_empty() {
            page.json(&json!({"role": "system", "content": system.join("\n")}));
        }
    }

    fn push(&self, message: &Message, page: &mut Page<LastRole>) {
        let content = sent(message);
        if content.iter().all(is_empty) {
            return;
        }
        page.separate();
        if message.role == Role::Assistant && page.state == LastRole::Assistant {
            push_user(CONTINUE, page);
            page.separate();
        }
        page.state = match message.role {
            Role::Assistant if !message.is_paused => LastRole::Assistant,
            _ => LastRole::Other,
        };
        match message.role {
            Role::System if self.native_updates => {
                let texts: Vec<_> = mid_conversation::texts(&message.content).collect();
                page.json(&json!({"role": "system", "content": texts.join("\n")}));
            }
            Role::System => push_user(&mid_conversation::wrapped(&message.content), page),
            role => {
                let content = self.parts(content);
                page.json(&json!({"role": role.as_str(), "content": content}));
            }
        }
    }

    /// Some providers take a last assistant message as the start of the answer, so this is a user message.
    fn push_closing(&self, message: &Message, page: &mut Page<LastRole>) {
        page.separate();
        page.state = LastRole::Other;
        push_user(&mid_conversation::wrapped(&message.content), page);
    }

    fn settle(&self, _: &mut Page<LastRole>) {}

    /// Providers refuse a request that ends with a finished answer.
    fn close(&self, page: &mut Page<LastRole>) {
        if page.state != LastRole::Other {
            page.separate();
            push_user(CONTINUE, page);
        }
    }

    fn tool(&self, tool: &ToolDefinition) -> Value {
        let mut written = json!(tool);
        written["inputSchema"] = tool_schema::for_program(&tool.input_schema, self.tool_schema)
            .as_ref()
            .clone();
        written
    }
}

/// Returns the parts of a message without reasoning that nothing follows. Some providers refuse it.
fn sent(message: &Message) -> &[Part] {
    if message.role != Role::Assistant {
        return &message.content;
    }
    let is_answer = |part: &Part| !matches!(part, Part::Reasoning(_)) && !is_empty(part);
    let end = message.content.iter().rposition(is_answer);
    &message.content[..end.map_or(0, |last| last + 1)]
}

/// Returns a part with the name of its tool in a form that every provider accepts.
fn named(mut part: Value, name: &str) -> Value {
    part["name"] = tool_name(name).into();
    part
}

/// True for a part that the model does not get: a text or reasoning without visible content, which some providers
/// refuse, and a file of an earlier answer, which is no call of any tool.
fn is_empty(part: &Part) -> bool {
    match part {
        Part::ToolCall(call) => call.provider_executed && call.name == GENERATED_FILE,
        Part::ToolResult(result) => result.provider_executed && result.name == GENERATED_FILE,
        Part::Text(part) => is_blank(&part.text) && part.provider_metadata.is_none(),
        Part::Reasoning(part) => is_blank(&part.text) && part.provider_metadata.is_none(),
        _ => false,
    }
}

fn push_user(text: &str, page: &mut Page<LastRole>) {
    page.json(&json!({"role": "user", "content": [{"type": "text", "text": text}]}));
}
