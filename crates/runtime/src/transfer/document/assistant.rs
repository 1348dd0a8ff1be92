//! Answers of a document. Each one becomes a step, or the checkpoint of a compaction.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{
    CompactionEnded, CompactionStarted, Pruned, PrunedCall, ReasoningEnded, ReasoningStarted,
    StepEnded, StepFailed, StepStarted, TextEnded, TextStarted,
};
use opencode_schema::id::MessageID;
use opencode_schema::message::{CompactionReason, ErrorCause, ErrorKind, SessionErrorUnknown};
use opencode_schema::model::ModelRef;
use serde_json::Value;

use super::DocumentMessage;
use super::log::Log;
use super::tool;
use super::values::{cost, flag, model, name, object, text, time, tokens};

/// The endings of a step that sessions of this host know.
const FINISHES: [&str; 6] = [
    "stop",
    "length",
    "tool-calls",
    "content-filter",
    "unknown",
    "error",
];

/// Adds the events of an answer.
pub(super) fn translate(log: &mut Log, id: MessageID, message: &DocumentMessage) {
    if flag(&message.info, "summary") {
        return summary(log, id, message);
    }
    let answer = Answer::of(id, &message.info);
    log.push(
        answer.created,
        StepStarted {
            assistant_message_id: answer.id.clone(),
            agent: answer.agent.clone(),
            model: answer.model.clone(),
            snapshot: None,
        },
    );
    for part in &message.parts {
        answer.part(log, part);
    }
    answer.end(log, message);
}

/// An answer without its parts.
pub(super) struct Answer {
    pub(super) id: MessageID,
    /// Time of its beginning.
    pub(super) created: Millis,
    /// Time of its end. Without one, it was cut off.
    completed: Option<Millis>,
    agent: String,
    model: ModelRef,
}

impl Answer {
    fn of(id: MessageID, info: &Record) -> Self {
        let agent = name(info, "agent").or_else(|| name(info, "mode"));
        let unknown = || ModelRef {
            id: "unknown".to_owned(),
            provider_id: "unknown".to_owned(),
            variant: None,
        };
        Self {
            id,
            created: time(info, "created").unwrap_or_default(),
            completed: time(info, "completed"),
            agent: agent.unwrap_or_else(|| "build".to_owned()),
            model: model(info, "modelID").unwrap_or_else(unknown),
        }
    }

    fn part(&self, log: &mut Log, part: &Record) {
        let part_id = text(part, "id");
        let kind = text(part, "type").unwrap_or("unknown");
        let started = time(part, "start").unwrap_or(self.created);
        let ended = time(part, "end").unwrap_or(started);
        let omit = |log: &mut Log, reason: &str| {
            log.omit(Some(self.id.as_str()), part_id, kind, reason);
        };
        let block = part_id.unwrap_or(kind).to_owned();
        let body = || text(part, "text").unwrap_or_default().to_owned();
        let assistant_message_id = self.id.clone();
        match kind {
            "text" => {
                log.push(
                    started,
                    TextStarted {
                        assistant_message_id: self.id.clone(),
                        text_id: block.clone(),
                    },
                );
                log.push(
                    ended,
                    TextEnded {
                        assistant_message_id,
                        text_id: block,
                        text: body(),
                    },
                );
            }
            "reasoning" => {
                log.push(
                    started,
                    ReasoningStarted {
                        assistant_message_id: self.id.clone(),
                        reasoning_id: block.clone(),
                        provider_metadata: None,
                    },
                );
                log.push(
                    ended,
                    ReasoningEnded {
                        assistant_message_id,
                        reasoning_id: block,
                        text: body(),
                        provider_metadata: None,
                    },
                );
                if part.contains_key("metadata") {
                    omit(
                        log,
                        "The data of the provider has a form of the other program. The text is carried over.",
                    );
                }
            }
            "tool" => tool::translate(log, self, part),
            "step-start" | "step-finish" | "snapshot" | "patch" => {
                if part.contains_key("snapshot") || kind == "patch" {
                    omit(log, "Snapshots of files belong to another store.");
                }
            }
            "retry" => omit(log, "Past waits for a provider are not carried over."),
            _ => omit(log, "An answer of this host has no part of this type."),
        }
    }

    fn end(&self, log: &mut Log, message: &DocumentMessage) {
        let info = &message.info;
        let ended = self.completed.unwrap_or(self.created);
        if let Some(error) = object(info, "error") {
            log.push(ended, self.failed(failure(error)));
        } else if self.completed.is_none() && !info.contains_key("finish") {
            let error = SessionErrorUnknown::of(ErrorKind::Interrupted, "The answer was cut off");
            log.push(ended, self.failed(error));
        } else {
            let finish = name(info, "finish").filter(|it| FINISHES.contains(&it.as_str()));
            log.push(
                ended,
                StepEnded {
                    assistant_message_id: self.id.clone(),
                    finish: finish.unwrap_or_else(|| "unknown".to_owned()),
                    cost: cost(info),
                    tokens: tokens(info),
                    snapshot: None,
                    files: None,
                },
            );
        }
        let calls: Vec<PrunedCall> = message
            .parts
            .iter()
            .filter_map(|it| self.pruned(it))
            .collect();
        if !calls.is_empty() {
            log.push(ended, Pruned { calls });
        }
    }

    fn failed(&self, error: SessionErrorUnknown) -> StepFailed {
        StepFailed {
            assistant_message_id: self.id.clone(),
            error,
        }
    }

    /// Returns the call of a part whose output later requests omitted.
    fn pruned(&self, part: &Record) -> Option<PrunedCall> {
        time(object(part, "state")?, "compacted")?;
        Some(PrunedCall {
            assistant_message_id: self.id.clone(),
            call_id: name(part, "callID")?,
        })
    }
}

/// Returns the failure of a step.
fn failure(error: &Record) -> SessionErrorUnknown {
    let data = object(error, "data");
    let kind = match text(error, "name") {
        Some("MessageAbortedError") => ErrorKind::Interrupted,
        Some("ProviderAuthError") => ErrorKind::Auth,
        Some("MessageOutputLengthError") => ErrorKind::OutputLength,
        Some("ContextOverflowError") => ErrorKind::ContextOverflow,
        Some("ContentFilterError") => ErrorKind::ContentPolicy,
        Some("StructuredOutputError") => ErrorKind::InvalidOutput,
        _ => ErrorKind::Unknown,
    };
    let message = data
        .and_then(|it| text(it, "message"))
        .or(text(error, "name"));
    let status = data
        .and_then(|it| it.get("statusCode"))
        .and_then(Value::as_u64);
    SessionErrorUnknown {
        cause: Some(ErrorCause {
            kind,
            status: status.and_then(|it| u16::try_from(it).ok()),
            retryable: data.is_some_and(|it| flag(it, "isRetryable")),
            retry_after_ms: None,
            provider_id: None,
        }),
        ..SessionErrorUnknown::new(message.unwrap_or("unknown error"))
    }
}

/// Adds the checkpoint that a summary becomes.
fn summary(log: &mut Log, id: MessageID, message: &DocumentMessage) {
    let texts = message
        .parts
        .iter()
        .filter(|it| text(it, "type") == Some("text"));
    let summary: Vec<_> = texts.filter_map(|it| text(it, "text")).collect();
    let summary = summary.join("\n");
    if summary.trim().is_empty() || message.info.contains_key("error") {
        let reason = "The summary is empty or failed, so the history before it stays.";
        log.omit(Some(id.as_str()), None, "summary", reason);
        return;
    }
    let created = time(&message.info, "created").unwrap_or_default();
    let ended = time(&message.info, "completed").unwrap_or(created);
    let reason = CompactionReason::Auto;
    log.push(
        created,
        CompactionStarted {
            message_id: id.clone(),
            reason,
        },
    );
    log.push(
        ended,
        CompactionEnded {
            message_id: id,
            reason,
            text: summary,
            recent: String::new(),
        },
    );
}
