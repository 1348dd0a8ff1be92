//! The older form of a session: a record, and messages with parts.
//!
//! `opencode export` prints this form, and versions before the event log store it as files. The host translates it to
//! the events that would have led to these messages, and replays them. Equal documents give equal events, so an import
//! can be repeated. A document has values without a place in a session of this host. The import reports each of them.

mod assistant;
mod log;
mod session;
mod tool;
mod user;
mod values;

use opencode_schema::Record;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::session::SessionInfo;
use serde_json::Value;

use self::log::Log;
use self::values::text;
use super::Imports;
use super::confirm::Chosen;
use crate::coordinator::Coordinator;
use crate::error::{ImportError, RuntimeError};

/// A session in the older form.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionDocument {
    /// The record of the session.
    pub info: Record,
    /// The messages, oldest first.
    pub messages: Vec<DocumentMessage>,
}

/// A message of a [`SessionDocument`].
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentMessage {
    /// The message without its content.
    pub info: Record,
    /// The parts, oldest first.
    pub parts: Vec<Record>,
}

/// A value of a document that the import did not carry over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedItem {
    /// Id of the message that contains it. `None` for a value of the session.
    pub message_id: Option<String>,
    /// Id of the part that contains it.
    pub part_id: Option<String>,
    /// The type of the part, or the name of the member.
    pub kind: String,
    /// The reason, as a sentence.
    pub reason: String,
}

/// Result of the import of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedDocument {
    /// The session after the import.
    pub session: SessionInfo,
    /// Number of events that were new to this host.
    pub applied: u64,
    /// Number of events that this host already had.
    pub skipped: u64,
    /// The values that were not carried over, in the order of the document.
    pub omitted: Vec<OmittedItem>,
}

impl Imports {
    pub(crate) async fn import_document(
        &self,
        coordinator: Coordinator,
        document: SessionDocument,
        chosen: Chosen,
    ) -> Result<ImportedDocument, RuntimeError> {
        let directory = session::directory(&document.info)?;
        let project = self.locations.projects().resolve(&directory).await;
        let id = session::id(&document.info)?;
        let mut log = Log::new(id.clone());
        session::created(&mut log, &document, directory, project)?;
        self.keep_project(&mut log, &id).await?;
        for message in &document.messages {
            translate(&mut log, message);
        }
        let (events, omitted) = log.into_parts();
        let imported = self.replay_events(coordinator, id, events, chosen).await?;
        Ok(ImportedDocument {
            session: imported.session,
            applied: imported.applied,
            skipped: imported.skipped,
            omitted,
        })
    }

    /// Keeps the project of a session that an earlier import created: the directory may belong to another project now.
    async fn keep_project(&self, log: &mut Log, id: &SessionID) -> Result<(), RuntimeError> {
        let wanted = id.clone();
        let found = self
            .journal
            .store
            .read(move |reader| reader.session(&wanted))
            .await?;
        if let Some(session) = found {
            log.set_project(session.info.project_id, session.info.subpath);
        }
        Ok(())
    }
}

fn translate(log: &mut Log, message: &DocumentMessage) {
    let id = text(&message.info, "id").unwrap_or_default();
    let Ok(message_id) = MessageID::parse(id) else {
        let reason = "The id of the message does not begin with \"msg_\".";
        log.omit(Some(id), None, "message", reason);
        return;
    };
    match message.info.get("role").and_then(Value::as_str) {
        Some("user") => user::translate(log, message_id, message),
        Some("assistant") => assistant::translate(log, message_id, message),
        _ => {
            let reason = "The role of the message is neither \"user\" nor \"assistant\".";
            log.omit(Some(id), None, "message", reason);
        }
    }
}

/// Returns the error for a document that is not a session.
fn unreadable(reason: impl Into<String>) -> ImportError {
    ImportError::Document(reason.into())
}

#[cfg(test)]
mod tests;
