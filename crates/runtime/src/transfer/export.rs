//! A session on its way out.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_store::{ReplayEvent, StoreError};
use serde::Serialize;

use super::{FORMAT, Header, VERSION};
use crate::error::RuntimeError;
use crate::journal::Journal;

/// Entries read at once.
const BATCH: usize = 256;

/// Bytes of payloads read at once, beyond the entry that passes it.
const BATCH_BYTES: usize = 1024 * 1024;

/// A session as lines of text, read as they are asked for. The entry that was the newest when the
/// export began is the last one, whatever happens to the session meanwhile.
pub struct SessionExport {
    journal: Arc<Journal>,
    session_id: SessionID,
    /// The first line, until it is taken.
    header: Option<String>,
    /// Sequence of the next entry.
    next: u64,
    /// Sequence of the last entry.
    last: u64,
}

impl SessionExport {
    pub(crate) async fn begin(journal: Arc<Journal>, id: &SessionID) -> Result<Self, RuntimeError> {
        let wanted = id.clone();
        let found = journal.store.read(move |reader| {
            let Some(session) = reader.session(&wanted)? else {
                return Ok(None);
            };
            let last = reader.latest_seq(session.key)?;
            Ok(Some((session.info, last)))
        });
        let Some((session, last)) = found.await? else {
            return Err(RuntimeError::SessionNotFound(id.clone()));
        };
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            session,
        };
        Ok(Self {
            journal,
            session_id: id.clone(),
            header: Some(json(&header)),
            next: 0,
            last,
        })
    }

    /// The next lines, without their line ends; nothing after the last one.
    ///
    /// # Errors
    ///
    /// `SessionNotFound` when the session is removed meanwhile, else what storage says.
    pub async fn next(&mut self) -> Result<Option<Vec<String>>, RuntimeError> {
        if let Some(header) = self.header.take() {
            return Ok(Some(vec![header]));
        }
        if self.next > self.last {
            return Ok(None);
        }
        let (id, from) = (self.session_id.clone(), self.next);
        let left = usize::try_from(self.last - from).unwrap_or(usize::MAX);
        let limit = BATCH.min(left.saturating_add(1));
        let read = self
            .journal
            .of_session(&self.session_id, move |reader, key| {
                let entries = reader.log(key, from, limit, BATCH_BYTES)?;
                let lines = entries.iter().map(|it| Ok(line(&it.element(&id)?)));
                let lines = lines.collect::<Result<Vec<_>, StoreError>>()?;
                Ok((lines, entries.last().map(|it| it.seq)))
            });
        match read.await? {
            (lines, Some(newest)) => {
                self.next = newest + 1;
                Ok(Some(lines))
            }
            // Its log is there no more, though a session of that id is.
            (_, None) => Err(RuntimeError::SessionNotFound(self.session_id.clone())),
        }
    }
}

/// An element of a log as a line, its payload in canonical form.
fn line(element: &ReplayEvent) -> String {
    let (id, kind) = (json(&element.id), json(&element.kind));
    let (seq, data) = (element.seq, &element.data);
    let metadata = element.metadata.as_ref().map(json);
    let metadata = metadata.map_or_else(String::new, |it| format!(r#","metadata":{it}"#));
    format!(r#"{{"id":{id},"type":{kind},"seq":{seq},"data":{data}{metadata}}}"#)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("values of the vocabulary are plain data")
}
