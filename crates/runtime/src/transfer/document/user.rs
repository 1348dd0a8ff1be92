//! Prompts of a document.

use opencode_schema::Record;
use opencode_schema::event::{Prompted, Synthetic};
use opencode_schema::id::MessageID;
use opencode_schema::prompt::{
    Delivery, Prompt, PromptAgentAttachment, PromptFileAttachment, PromptSource,
};
use serde_json::Value;

use super::DocumentMessage;
use super::log::Log;
use super::values::{flag, name, object, text, time};

/// Members of a prompt that have no place in a session of this host, with the reason.
const WITHOUT_PLACE: &[(&str, &str)] = &[
    (
        "system",
        "Past prompts keep no System Context of their own.",
    ),
    ("tools", "Past prompts keep no selection of tools."),
    ("format", "Past prompts keep no schema of their answer."),
];

/// The parts of a prompt.
#[derive(Default)]
struct Parts {
    texts: Vec<String>,
    synthetic: Vec<String>,
    /// Id of the first part with a synthetic text.
    synthetic_id: Option<String>,
    files: Vec<PromptFileAttachment>,
    agents: Vec<PromptAgentAttachment>,
    has_compaction: bool,
}

/// Adds the events of a prompt.
pub(super) fn translate(log: &mut Log, id: MessageID, message: &DocumentMessage) {
    let created = time(&message.info, "created").unwrap_or_default();
    for (member, reason) in WITHOUT_PLACE {
        if message.info.contains_key(*member) {
            log.omit(Some(id.as_str()), None, member, reason);
        }
    }
    let parts = read(log, &id, message);
    if !parts.synthetic.is_empty() {
        let text = parts.synthetic.join("\n\n");
        let message_id = synthetic_id(parts.synthetic_id.as_deref(), &id);
        log.push(
            created,
            Synthetic {
                message_id,
                text,
                files: None,
            },
        );
    }
    let is_empty = parts.texts.is_empty() && parts.files.is_empty() && parts.agents.is_empty();
    // A prompt that only asks for a compaction has no text. The summary after it becomes the checkpoint.
    if is_empty && (parts.has_compaction || !parts.synthetic.is_empty()) {
        return;
    }
    let prompt = Prompt {
        text: parts.texts.join("\n"),
        files: Some(parts.files).filter(|files| !files.is_empty()),
        agents: Some(parts.agents).filter(|agents| !agents.is_empty()),
        settings: None,
        mentions: None,
        command: None,
    };
    let prompted = Prompted {
        message_id: id,
        prompt,
        delivery: Delivery::Steer,
    };
    log.push(created, prompted);
}

/// Returns the id of the message with the synthetic texts of a prompt.
fn synthetic_id(part_id: Option<&str>, prompt: &MessageID) -> MessageID {
    let part = part_id.and_then(|id| id.strip_prefix("prt_"));
    let named = part.and_then(|rest| MessageID::parse(&format!("msg_{rest}")).ok());
    let fallback = || MessageID::parse(&format!("{prompt}-synthetic"));
    named
        .or_else(|| fallback().ok())
        .unwrap_or_else(|| prompt.clone())
}

fn read(log: &mut Log, id: &MessageID, message: &DocumentMessage) -> Parts {
    let mut parts = Parts::default();
    for part in &message.parts {
        let part_id = text(part, "id");
        let kind = text(part, "type").unwrap_or("unknown");
        match kind {
            "text" if flag(part, "ignored") => {}
            "text" => {
                let text = text(part, "text").unwrap_or_default().to_owned();
                if flag(part, "synthetic") {
                    parts.synthetic.push(text);
                    parts.synthetic_id = parts.synthetic_id.or(part_id.map(str::to_owned));
                } else {
                    parts.texts.push(text);
                }
            }
            "file" => match file(part) {
                Some(file) => parts.files.push(file),
                None => {
                    let reason = "The file has no address.";
                    log.omit(Some(id.as_str()), part_id, kind, reason);
                }
            },
            "agent" => parts.agents.extend(agent(part)),
            "subtask" => {
                parts.texts.extend(name(part, "prompt"));
                let reason = "The task is carried over as the text of the prompt.";
                log.omit(Some(id.as_str()), part_id, kind, reason);
            }
            "compaction" => {
                parts.has_compaction = true;
                if part.contains_key("tail_start_id") {
                    let reason = "The messages that followed the summary in requests are not repeated after it.";
                    log.omit(Some(id.as_str()), part_id, kind, reason);
                }
            }
            _ => {
                let reason = "A prompt of this host has no part of this type.";
                log.omit(Some(id.as_str()), part_id, kind, reason);
            }
        }
    }
    parts
}

fn file(part: &Record) -> Option<PromptFileAttachment> {
    let range = object(part, "source").and_then(|source| object(source, "text"));
    Some(PromptFileAttachment {
        uri: name(part, "url")?,
        mime: name(part, "mime").unwrap_or_else(|| "application/octet-stream".to_owned()),
        name: name(part, "filename"),
        description: None,
        source: range.and_then(source),
    })
}

fn agent(part: &Record) -> Option<PromptAgentAttachment> {
    Some(PromptAgentAttachment {
        name: name(part, "name")?,
        source: object(part, "source").and_then(source),
    })
}

fn source(range: &Record) -> Option<PromptSource> {
    let number = |member: &str| range.get(member).and_then(Value::as_f64);
    Some(PromptSource {
        start: number("start")?,
        end: number("end")?,
        text: text(range, "value")?.to_owned(),
    })
}
