//! Export of a session.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_schema::session::SessionInfo;
use opencode_store::{ReplayEvent, Sequence, StoreError};
use serde::Serialize;

use super::{FORMAT, Header, VERSION};
use crate::error::RuntimeError;
use crate::journal::Journal;

/// Number of entries per read.
const BATCH: usize = 256;

/// Bytes of payloads per read. The entry that exceeds the limit is still included.
const BATCH_BYTES: usize = 1024 * 1024;

/// A session as lines of text, read on demand. It ends with the entry that was the newest when the
/// export began, even if the session changes meanwhile.
pub struct SessionExport {
    journal: Arc<Journal>,
    session_id: SessionID,
    /// The first line. `None` once it is taken.
    header: Option<String>,
    /// Sequence number of the next entry.
    next: Sequence,
    /// Sequence number of the last entry.
    last: Sequence,
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
            // These are of this host alone, and the log does not give them again.
            session: SessionInfo {
                share: None,
                summary: None,
                imported: None,
                ..session
            },
        };
        Ok(Self {
            journal,
            session_id: id.clone(),
            header: Some(json(&header)),
            next: Sequence::FIRST,
            last,
        })
    }

    /// Returns the next lines, without their line ends. `None` after the last one.
    ///
    /// # Errors
    ///
    /// `SessionNotFound` if the session is removed meanwhile, otherwise errors of the store.
    pub async fn next(&mut self) -> Result<Option<Vec<String>>, RuntimeError> {
        if let Some(header) = self.header.take() {
            return Ok(Some(vec![header]));
        }
        if self.next > self.last {
            return Ok(None);
        }
        let (id, from) = (self.session_id.clone(), self.next);
        let left = usize::try_from(self.last.since(from)).unwrap_or(usize::MAX);
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
                self.next = newest.next();
                Ok(Some(lines))
            }
            // Its log was removed, although a session with this id exists.
            (_, None) => Err(RuntimeError::SessionNotFound(self.session_id.clone())),
        }
    }
}

/// Returns an element of a log as a line, with its payload in canonical form.
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
