//! Import of a session: its lines are read one by one, then replayed in one transaction.

use std::fmt::Display;
use std::pin::pin;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use opencode_location::location::Locations;
use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::session::SessionInfo;
use opencode_store::{
    Abort, ReplayConflict, ReplayEvent, ReplayOptions, ReplayOrder, Replayed, Transaction,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::confirm::{Chosen, ImportChoices};
use super::open_work::end_open_work;
use super::{FORMAT, Header, VERSION};
use crate::coordinator::Coordinator;
use crate::error::{ImportError, MAX_HELD_BYTES, MAX_IMPORT_LINE_BYTES, RuntimeError};
use crate::journal::Journal;

/// Bytes counted for each entry in addition to its text, so that many short lines count, too.
const ENTRY_BYTES: usize = 256;

/// Result of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The session after the import.
    pub session: SessionInfo,
    /// Number of entries that were new to this host.
    pub applied: u64,
    /// Number of entries that this host already had.
    pub skipped: u64,
}

/// The bytes that the imports of a host may still use.
pub(crate) struct ImportBudget(Arc<Semaphore>);

impl Default for ImportBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_HELD_BYTES)))
    }
}

/// The lines of an import, parsed as far as possible without the store.
struct Upload {
    session_id: SessionID,
    events: Vec<(u64, ReplayEvent)>,
    /// Released when the entries are dropped.
    held: OwnedSemaphorePermit,
}

/// A line after the first.
#[derive(Deserialize)]
struct Entry {
    id: EventID,
    #[serde(rename = "type")]
    kind: String,
    seq: u64,
    data: Box<RawValue>,
    metadata: Option<Record>,
}

/// Imports of saved logs.
pub(crate) struct Imports {
    pub(crate) journal: Arc<Journal>,
    pub(crate) budget: ImportBudget,
    pub(crate) locations: Arc<Locations>,
    /// The directory of the host.
    pub(crate) directory: String,
}

impl Imports {
    /// Checks the choices of a caller.
    pub(crate) async fn chosen(&self, choices: ImportChoices) -> Result<Chosen, RuntimeError> {
        Chosen::of(choices, &self.directory, &self.locations).await
    }

    pub(crate) async fn import<E: Display>(
        &self,
        coordinator: Coordinator,
        lines: impl Stream<Item = Result<String, E>>,
        chosen: Chosen,
    ) -> Result<Imported, RuntimeError> {
        let upload = read(&self.budget, lines).await?;
        self.replay(coordinator, upload, chosen).await
    }

    /// Replays all entries of an upload, or none.
    async fn replay(
        &self,
        coordinator: Coordinator,
        upload: Upload,
        chosen: Chosen,
    ) -> Result<Imported, RuntimeError> {
        let now = self.journal.now();
        let applied = self.journal.store.write(move |transaction| {
            // A drain that starts after this check writes before it reads the session, and its write
            // follows this transaction.
            if coordinator.active().contains(&upload.session_id) {
                return Err(Abort::Refused(RuntimeError::SessionBusy(upload.session_id)));
            }
            apply(transaction, upload, chosen, now)
        });
        Ok(applied.await?)
    }
}

async fn read<E: Display>(
    budget: &ImportBudget,
    lines: impl Stream<Item = Result<String, E>>,
) -> Result<Upload, ImportError> {
    let mut lines = pin!(lines.enumerate());
    let mut upload: Option<Upload> = None;
    let mut order = ReplayOrder::default();
    while let Some((at, text)) = lines.next().await {
        let line = at as u64 + 1;
        let text = text.map_err(|error| ImportError::BrokenOff {
            line: line - 1,
            reason: error.to_string(),
        })?;
        if text.len() > MAX_IMPORT_LINE_BYTES {
            return Err(ImportError::LineTooLong { line });
        }
        match &mut upload {
            None => upload = Some(begin(budget, &text)?),
            Some(upload) => upload.take(budget, &mut order, line, &text)?,
        }
    }
    let upload = upload.filter(|it| !it.events.is_empty());
    upload.ok_or_else(|| ImportError::Unreadable {
        line: 2,
        reason: "it is missing; an export has two lines at least".to_owned(),
    })
}

fn begin(budget: &ImportBudget, text: &str) -> Result<Upload, ImportError> {
    let wrong = |reason: String| ImportError::Unreadable { line: 1, reason };
    let header: Header = serde_json::from_str(text)
        .map_err(|error| wrong(format!("it does not describe an exported session: {error}")))?;
    if header.format != FORMAT {
        let format = header.format;
        return Err(wrong(format!("the format is {format:?}, not {FORMAT:?}")));
    }
    if header.version != VERSION {
        let version = header.version;
        return Err(wrong(format!(
            "version {version} of the format is not known, only {VERSION}"
        )));
    }
    Ok(Upload {
        session_id: header.session.id,
        events: Vec::new(),
        held: budget.hold(0)?,
    })
}

impl Imports {
    /// Replays entries that the host made itself. They count towards the memory limit of imports.
    pub(super) async fn replay_events(
        &self,
        coordinator: Coordinator,
        session_id: SessionID,
        events: Vec<ReplayEvent>,
        chosen: Chosen,
    ) -> Result<Imported, RuntimeError> {
        let bytes = events.iter().map(|it| it.data.len() + ENTRY_BYTES);
        let upload = Upload {
            session_id,
            held: self.budget.hold(bytes.sum())?,
            events: (1..).zip(events).collect(),
        };
        self.replay(coordinator, upload, chosen).await
    }
}

impl Upload {
    fn take(
        &mut self,
        budget: &ImportBudget,
        order: &mut ReplayOrder,
        line: u64,
        text: &str,
    ) -> Result<(), ImportError> {
        self.held.merge(budget.hold(text.len() + ENTRY_BYTES)?);
        let entry: Entry = serde_json::from_str(text).map_err(|error| ImportError::Unreadable {
            line,
            reason: format!("it is no entry of a log: {error}"),
        })?;
        let event = ReplayEvent {
            id: entry.id,
            session_id: self.session_id.clone(),
            seq: entry.seq,
            kind: entry.kind,
            data: Box::<str>::from(entry.data).into_string(),
            metadata: entry.metadata,
        };
        order
            .next(&event)
            .map_err(|conflict| ImportError::Conflict { line, conflict })?;
        self.events.push((line, event));
        Ok(())
    }
}

impl ImportBudget {
    fn hold(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ImportError> {
        let bytes = u32::try_from(bytes).map_err(|_| ImportError::TooLarge)?;
        let held = Arc::clone(&self.0).try_acquire_many_owned(bytes);
        held.map_err(|_| ImportError::TooLarge)
    }
}

fn apply(
    transaction: &mut Transaction<'_>,
    upload: Upload,
    chosen: Chosen,
    now: Millis,
) -> Result<Imported, Abort<RuntimeError>> {
    // The lines have no owner, so they must not extend a log that has an owner.
    let options = ReplayOptions {
        strict_owner: true,
        ..ReplayOptions::default()
    };
    let (mut applied, mut skipped) = (0, 0);
    for (line, event) in upload.events {
        let replayed = transaction.replay(&event, &options);
        match replayed.map_err(|abort| abort.map(|conflict| refused(line, conflict).into()))? {
            Replayed::Applied => applied += 1,
            Replayed::Skipped => skipped += 1,
        }
    }
    let id = upload.session_id;
    let found = |transaction: &Transaction<'_>| {
        let session = transaction.reader().session(&id)?;
        session.ok_or_else(|| Abort::Refused(RuntimeError::SessionNotFound(id.clone())))
    };
    let session = found(transaction)?;
    if applied > 0 {
        end_open_work(transaction, &session, now)?;
    }
    chosen.apply(transaction, &session, now)?;
    Ok(Imported {
        session: found(transaction)?.info,
        applied,
        skipped,
    })
}

/// Returns the error for a conflict. An entry that cannot be read is unreadable, not a contradiction.
fn refused(line: u64, conflict: ReplayConflict) -> ImportError {
    match conflict {
        ReplayConflict::UnknownType { kind, .. } => ImportError::Unreadable {
            line,
            reason: format!("the type {kind:?} is not known"),
        },
        ReplayConflict::Payload { reason, .. } => ImportError::Unreadable { line, reason },
        conflict => ImportError::Conflict { line, conflict },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn held(budget: &ImportBudget, entries: usize) -> Result<Upload, ImportError> {
        let header = r#"{"format":"opencode-session","version":1,"session":{"id":"ses_a","projectID":"p","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"time":{"created":1,"updated":1},"title":"t","location":{"directory":"/d"}}}"#;
        let entry =
            |seq: usize| format!(r#"{{"id":"evt_{seq}","type":"t.1","seq":{seq},"data":{{}}}}"#);
        let lines = std::iter::once(header.to_owned()).chain((0..entries).map(entry));
        read(budget, futures::stream::iter(lines.map(Ok::<_, String>))).await
    }

    #[tokio::test]
    async fn concurrent_imports_share_a_memory_limit_and_return_it() {
        let budget = ImportBudget(Arc::new(Semaphore::new(10 * (ENTRY_BYTES + 48))));
        let all = held(&budget, 10).await.unwrap();
        assert_eq!(all.events.len(), 10);
        assert!(matches!(held(&budget, 1).await, Err(ImportError::TooLarge)));
        drop(all);
        // A refused import also releases its part.
        for _ in 0..3 {
            let refused = held(&budget, 11).await;
            assert!(matches!(refused, Err(ImportError::TooLarge)));
        }
        assert_eq!(held(&budget, 10).await.unwrap().events.len(), 10);
    }
}
