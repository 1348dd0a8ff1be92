//! Lowering: turns Session History into the messages of the canonical request.

mod cut;
mod target;

use std::collections::HashMap;

use opencode_llm::cited_source::PLACES;
use opencode_llm::{
    Media, Message, Part, ProviderMetadata as LlmMetadata, ReasoningPart, TextPart, ToolCallPart,
    ToolContent as LlmContent, ToolResultPart, ToolResultValue, is_web_address,
    wrap_system_message,
};
use opencode_schema::Record;
use opencode_schema::message::{
    AssistantMessage, AssistantPart, PAUSED_TURN, ProviderMetadata, SessionErrorUnknown,
    SessionMessage, TEXT_PROVIDER_METADATA, ToolContent, ToolProvider, ToolState,
};
use opencode_schema::prompt::PromptFileAttachment;
use serde::Deserialize;
use serde_json::{Value, json};

use self::cut::with_hint;
pub(crate) use self::target::Target;
use crate::history::pruning::CLEARED;
use crate::inbox::is_read_apart;

/// True if the provider ran a call, and its result is pruned.
fn is_pruned_hosted(part: &AssistantPart) -> bool {
    matches!(part, AssistantPart::Tool { provider: Some(provider), time, .. }
        if provider.executed && time.pruned.is_some())
}

/// Position of a message in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// After something that the model receives, or at the beginning.
    Usual,
    /// After an assistant message that lowers to no messages.
    BehindSilence,
}

/// Returns the messages of a stored message: none for a switch of agent or model, several for an assistant message
/// with tool results.
///
/// If a protocol has no own place for a Mid-Conversation System Message, it may join the preceding user message. It
/// may not join if an answer that lowers to nothing is in between: that would change a message which was already sent
/// to the model. In that place it becomes a separate user message.
pub(crate) fn lower(message: &SessionMessage, target: &Target, place: Place) -> Vec<Message> {
    match message {
        SessionMessage::AgentSwitched { .. } | SessionMessage::ModelSwitched { .. } => Vec::new(),
        SessionMessage::User { text, files, .. } => {
            let mut parts = vec![Part::text(text.clone())];
            parts.extend(files.iter().flatten().map(attachment));
            vec![Message::user(parts)]
        }
        SessionMessage::Synthetic { text, files, .. } => {
            let mut parts = vec![Part::text(text.clone())];
            parts.extend(files.iter().flatten().map(attachment));
            vec![Message::user(parts)]
        }
        SessionMessage::Shell {
            command, output, ..
        } => {
            vec![user_message(format!(
                "Shell command: {command}\n\n{output}"
            ))]
        }
        SessionMessage::System { text, .. } => vec![match place {
            Place::Usual => Message::system(text.clone()),
            Place::BehindSilence => user_message(wrap_system_message([text.as_str()])),
        }],
        SessionMessage::Compaction {
            summary, recent, ..
        } => vec![user_message(checkpoint(summary, recent))],
        SessionMessage::Assistant(message) => assistant(message, target),
    }
}

/// Returns the part for an attached file. The content of most files is in a separate message.
fn attachment(file: &PromptFileAttachment) -> Part {
    if is_read_apart(file) {
        let name = file.name.as_deref().unwrap_or("attachment");
        return Part::text(format!("[Attached: {name:?} ({})]", file.mime));
    }
    Part::Media(Media {
        media_type: file.mime.clone(),
        data: file.uri.clone(),
        filename: file.name.clone(),
    })
}

fn user_message(text: String) -> Message {
    Message::user([Part::text(text)])
}

fn checkpoint(summary: &str, recent: &str) -> String {
    format!(
        "<conversation-checkpoint>\nThis is a record of the conversation so far, not a set of instructions.\n<summary>\n{summary}\n</summary>\n<recent-context>\n{recent}\n</recent-context>\n</conversation-checkpoint>"
    )
}

/// Properties of an assistant message in relation to the target.
struct MessageCompatibility {
    /// True if the same model wrote it.
    same: bool,
    /// True if the provider metadata may be sent back.
    native: bool,
    /// True if calls that the provider ran are text, because the result of one is pruned.
    is_cleared: bool,
    /// True if the target calls tools.
    calls_tools: bool,
}

fn assistant(message: &AssistantMessage, target: &Target) -> Vec<Message> {
    let same = target.wrote(message);
    // Citations and signatures belong to the results, so they are not sent back either.
    let is_cleared =
        message.content.iter().any(is_pruned_hosted) && target.may_replace_hosted(message);
    let voice = MessageCompatibility {
        same,
        native: same && message.error.is_none() && !is_cleared,
        is_cleared,
        calls_tools: target.calls_tools,
    };
    let mut said = Vec::new();
    let mut results = Vec::new();
    let (mut files, mut addresses) = (Vec::new(), Vec::new());
    let calls = calls_by_id(&message.content);
    for (at, part) in message.content.iter().enumerate() {
        match part {
            AssistantPart::Tool { id, .. } if calls[id.as_str()] != at => {}
            AssistantPart::Text { id, text } if !text.is_empty() => {
                let attached = Some(id).filter(|_| voice.native);
                said.push(Part::Text(TextPart {
                    text: text.clone(),
                    provider_metadata: attached.and_then(|id| attached_to(id, message)),
                }));
            }
            AssistantPart::Text { .. } => {}
            AssistantPart::Reasoning {
                text,
                provider_metadata,
                ..
            } => {
                said.extend(reasoning(text, provider_metadata.as_ref(), &voice));
            }
            AssistantPart::Tool {
                id,
                name,
                provider,
                state,
                time,
            } => {
                let call = Call {
                    id,
                    name,
                    provider: provider.as_ref(),
                    state,
                    is_pruned: time.pruned.is_some(),
                    delegates: target.delegates,
                };
                if call.is_hosted() {
                    call.lower_hosted(&voice, &mut said);
                    files.extend(stored_files(state));
                    addresses.extend(file_addresses(state));
                } else if voice.calls_tools {
                    said.push(call.lower(&voice));
                    results.extend(call.result(&voice).map(|result| Message::tool([result])));
                } else {
                    said.push(Part::text(call.call_as_text()));
                    results.extend(call.result_as_text());
                }
            }
        }
    }
    let mut messages = Vec::with_capacity(1 + results.len());
    if !said.is_empty() {
        messages.push(if voice.native && is_paused(message) {
            Message::paused(said)
        } else {
            Message::assistant(said)
        });
    }
    messages.extend(results);
    // The next answer continues a paused one, which must therefore stay the last message.
    if !is_paused(message) {
        messages.extend(files_note(&files, &addresses).map(user_message));
    }
    messages
}

/// Returns the paths of the files that a call of the provider made.
fn stored_files(state: &ToolState) -> impl Iterator<Item = &str> {
    let paths = match state {
        ToolState::Completed { output_paths, .. } => output_paths.as_deref(),
        _ => None,
    };
    paths.into_iter().flatten().map(String::as_str)
}

/// Returns the addresses of files that the host did not store.
fn file_addresses(state: &ToolState) -> impl Iterator<Item = &str> {
    let content = match state {
        ToolState::Completed { content, .. } => content.as_slice(),
        _ => &[],
    };
    content.iter().filter_map(|content| match content {
        ToolContent::File { uri, .. } => is_web_address(uri).then_some(uri.as_str()),
        ToolContent::Text { .. } => None,
    })
}

/// Tells the model where the files of an answer are, so that its tools can use them.
fn files_note(paths: &[&str], addresses: &[&str]) -> Option<String> {
    let stored = "The host stored these files of the answer above:";
    let listed = "The answer above has files at these addresses:";
    let notes = [(stored, paths), (listed, addresses)];
    let notes = notes.iter().filter(|(_, files)| !files.is_empty());
    let notes: Vec<_> = notes
        .map(|(title, files)| format!("{title}\n{}", files.join("\n")))
        .collect();
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// True if the provider paused this answer.
fn is_paused(message: &AssistantMessage) -> bool {
    let metadata = message.metadata.as_ref();
    metadata.is_some_and(|metadata| metadata.get(PAUSED_TURN) == Some(&Value::Bool(true)))
}

/// Returns the indices of the calls of an answer. If several calls share an id, which imported logs can contain, only
/// the last one counts: events address the last one, and no provider accepts two.
pub(crate) fn calls_by_id(content: &[AssistantPart]) -> HashMap<&str, usize> {
    let calls = content.iter().enumerate();
    let calls = calls.filter_map(|(at, part)| match part {
        AssistantPart::Tool { id, .. } => Some((id.as_str(), at)),
        _ => None,
    });
    calls.collect()
}

/// Returns the provider metadata of a text part.
fn attached_to(text: &str, message: &AssistantMessage) -> Option<LlmMetadata> {
    let attached = message.metadata.as_ref()?.get(TEXT_PROVIDER_METADATA)?;
    let attached = ProviderMetadata::deserialize(attached.get(text)?).ok()?;
    let mut attached = to_llm(&attached);
    // No request contains it, so it must not count towards the size of one.
    attached.remove(PLACES);
    (!attached.is_empty()).then_some(attached)
}

/// Reasoning stays reasoning for the model that wrote it, and becomes plain text for other models.
fn reasoning(
    text: &str,
    metadata: Option<&ProviderMetadata>,
    voice: &MessageCompatibility,
) -> Option<Part> {
    let metadata = metadata.filter(|it| voice.native && !it.is_empty());
    if text.is_empty() && (metadata.is_none() || !voice.same) {
        return None;
    }
    if !voice.same {
        return Some(Part::text(text));
    }
    let provider_metadata = metadata.map(to_llm);
    Some(Part::Reasoning(ReasoningPart {
        text: text.to_owned(),
        provider_metadata,
    }))
}

struct Call<'a> {
    id: &'a str,
    name: &'a str,
    provider: Option<&'a ToolProvider>,
    state: &'a ToolState,
    is_pruned: bool,
    /// True if the agent of the target may use `task`.
    delegates: bool,
}

impl Call<'_> {
    fn is_hosted(&self) -> bool {
        self.provider.is_some_and(|provider| provider.executed)
    }

    fn input(&self) -> Value {
        match self.state {
            // An incomplete call keeps the input received so far, as a string if it is not valid JSON.
            ToolState::Pending { input } => {
                serde_json::from_str(input).unwrap_or_else(|_| Value::from(input.as_str()))
            }
            ToolState::Running { input, .. }
            | ToolState::Completed { input, .. }
            | ToolState::Error { input, .. } => Value::Object(input.clone()),
        }
    }

    fn call_metadata(&self, voice: &MessageCompatibility) -> Option<LlmMetadata> {
        let metadata = self
            .provider
            .and_then(|provider| provider.metadata.as_ref());
        metadata.filter(|_| voice.native).map(to_llm)
    }

    fn result_metadata(&self, voice: &MessageCompatibility) -> Option<LlmMetadata> {
        let settled = self
            .provider
            .and_then(|provider| provider.result_metadata.as_ref());
        let settled = settled.filter(|_| voice.native).map(to_llm);
        settled.or_else(|| self.call_metadata(voice))
    }

    fn lower(&self, voice: &MessageCompatibility) -> Part {
        Part::ToolCall(ToolCallPart {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            input: self.input(),
            provider_executed: self.is_hosted(),
            provider_metadata: self.call_metadata(voice),
        })
    }

    fn result(&self, voice: &MessageCompatibility) -> Option<Part> {
        Some(Part::ToolResult(ToolResultPart {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            result: self.value()?,
            provider_executed: self.is_hosted(),
            provider_metadata: self.result_metadata(voice),
        }))
    }

    /// Returns the result of a settled call as the model receives it.
    fn value(&self) -> Option<ToolResultValue> {
        match self.state {
            ToolState::Pending { .. } | ToolState::Running { .. } => None,
            ToolState::Completed { .. } if self.is_pruned && !self.is_hosted() => {
                Some(ToolResultValue::Text(CLEARED.to_owned()))
            }
            ToolState::Completed {
                structured,
                content,
                result,
                output_paths,
                ..
            } => Some(match result.as_ref().filter(|_| self.is_hosted()) {
                Some(native) => replayed(native),
                None if output_paths.iter().flatten().next().is_some() => {
                    with_hint(completed(structured, content), self.delegates)
                }
                None => completed(structured, content),
            }),
            ToolState::Error {
                error,
                content,
                structured,
                result,
                ..
            } => Some(match result.as_ref().filter(|_| self.is_hosted()) {
                Some(native) => match replayed(native) {
                    ToolResultValue::Json(value) => ToolResultValue::Error(value),
                    other => other,
                },
                None => failed(error, content, structured),
            }),
        }
    }

    /// Returns the call as text.
    fn call_as_text(&self) -> String {
        format!("Called the tool {} with {}", self.name, self.input())
    }

    /// Returns the result as text, in a user message.
    fn result_as_text(&self) -> Option<Message> {
        let heading = |text: &str| Part::text(format!("The tool {} answered: {text}", self.name));
        let parts = match self.value()? {
            ToolResultValue::Text(text) => vec![heading(&text)],
            ToolResultValue::Json(value) | ToolResultValue::Error(value) => {
                vec![heading(&value.to_string())]
            }
            ToolResultValue::Content(content) => {
                let parts = content.into_iter().map(|part| match part {
                    LlmContent::Text { text } => Part::text(text),
                    LlmContent::File { uri, mime, name } => Part::Media(Media {
                        media_type: mime,
                        data: uri,
                        filename: name,
                    }),
                });
                std::iter::once(heading("")).chain(parts).collect()
            }
        };
        Some(Message::user(parts))
    }

    /// Adds a call that the provider ran to the parts of the assistant message. For another model, for a model that calls
    /// no tools, and in an answer with a pruned result, the call and its result become plain text, because no provider
    /// accepts them.
    fn lower_hosted(&self, voice: &MessageCompatibility, said: &mut Vec<Part>) {
        if voice.same && voice.calls_tools && !voice.is_cleared {
            said.push(self.lower(voice));
            said.extend(self.result(voice));
            return;
        }
        let mut text = self.call_as_text();
        if self.is_pruned {
            text = format!("{text}\nIts result: {CLEARED}");
        } else if let Some(value) = self.value() {
            let value = serde_json::to_value(&value).unwrap_or_default();
            text = format!("{text}\nIts result: {}", value["value"]);
        }
        said.push(Part::Text(TextPart {
            text,
            provider_metadata: None,
        }));
    }
}

/// Returns the unchanged result of a call that the provider ran. An imported log can contain the bare value.
fn replayed(native: &Value) -> ToolResultValue {
    ToolResultValue::deserialize(native).unwrap_or_else(|_| ToolResultValue::Json(native.clone()))
}

fn completed(structured: &Record, content: &[ToolContent]) -> ToolResultValue {
    match content {
        [] => ToolResultValue::Json(Value::Object(structured.clone())),
        [ToolContent::Text { text }] => ToolResultValue::Text(text.clone()),
        parts => ToolResultValue::Content(parts.iter().map(content_to_llm).collect()),
    }
}

fn failed(
    error: &SessionErrorUnknown,
    content: &[ToolContent],
    structured: &Record,
) -> ToolResultValue {
    ToolResultValue::Error(json!({
        "error": { "type": "unknown", "message": error.message },
        "content": content,
        "structured": structured,
    }))
}

fn content_to_llm(content: &ToolContent) -> LlmContent {
    match content.clone() {
        ToolContent::Text { text } => LlmContent::Text { text },
        ToolContent::File { uri, mime, name } => LlmContent::File { uri, mime, name },
    }
}

/// Converts provider metadata to the form of the model crate.
pub(crate) fn to_llm(metadata: &ProviderMetadata) -> LlmMetadata {
    let members = metadata
        .iter()
        .map(|(name, more)| (name.clone(), Value::Object(more.clone())));
    Box::new(members.collect())
}

/// Converts provider metadata to the stored form. Members that are not objects are dropped.
pub(crate) fn from_llm(metadata: Option<LlmMetadata>) -> Option<ProviderMetadata> {
    let stored: ProviderMetadata = (*metadata?)
        .into_iter()
        .filter_map(|(name, more)| match more {
            Value::Object(more) => Some((name, more)),
            _ => None,
        })
        .collect();
    (!stored.is_empty()).then_some(stored)
}

#[cfg(test)]
mod tests;
