//! Removal of sessions. One small transaction hides a session from every read. Its rows are deleted later, in steps
//! that other commands can follow, because a long session has tens of thousands of them.

use std::borrow::Cow;

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, SessionDeleted, ToolSuccess};
use opencode_schema::id::SessionID;
use rusqlite::{OptionalExtension, params};
use serde::Deserialize;

use crate::error::StoreError;
use crate::format::entry::Committed;
use crate::format::former;
use crate::format::stored::Format;
use crate::integer::{Sequence, SessionKey};
use crate::projections::sessions::SessionRow;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// Member of the metadata of an entry that a fork copied. The cost, the files and the time of the entry belong to the
/// session that it was copied from.
pub(crate) const COPIED: &str = "copied";

/// Maximum number of payload bytes whose entries one step deletes. A step deletes at least one entry.
const STEP_BYTES: usize = 4 * 1024 * 1024;

impl Reader<'_> {
    /// Returns a session and all its descendants, each after its parent. Empty if the session does not exist.
    pub fn with_descendants(&self, root: &SessionID) -> Result<Vec<SessionID>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            // Each session is found once, even if an imported session is its own ancestor.
            "WITH RECURSIVE tree(id) AS (
               SELECT a.id FROM aggregate a JOIN session s ON s.aggregate = a.key WHERE a.id = ?
               UNION SELECT a.id FROM tree JOIN session s ON s.parent = tree.id
                 JOIN aggregate a ON a.key = s.aggregate)
             SELECT id FROM tree",
        )?;
        let rows = statement.query_map([root.as_str()], |row| row.get::<_, String>(0))?;
        let mut found = Vec::new();
        for id in rows {
            let id = id.map_err(StoreError::from);
            match id.and_then(|id| SessionID::parse(&id).map_err(StoreError::corrupt_row)) {
                Ok(id) => found.push(id),
                // No caller can name this descendant, and the others can be removed.
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(session_id = %root, %error, "a descendant has no readable id");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// True if rows of removed sessions remain.
    pub fn has_removed_rows(&self) -> Result<bool, StoreError> {
        Ok(self.removed_session()?.is_some())
    }

    fn removed_session(&self) -> Result<Option<SessionKey>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT aggregate FROM hidden WHERE is_copy = 0 LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?)
    }

    /// Returns the first entry that a step of at most `rows` entries leaves. `None` if it deletes all.
    fn end_of_step(
        &self,
        session: SessionKey,
        rows: usize,
    ) -> Result<Option<Sequence>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, ifnull(octet_length(data), 0) FROM event WHERE aggregate = ? ORDER BY seq",
        )?;
        let mut entries = statement.query([session])?;
        let (mut count, mut bytes) = (0, 0);
        while let Some(entry) = entries.next()? {
            if count >= rows || bytes >= STEP_BYTES {
                return Ok(Some(entry.get(0)?));
            }
            count += 1;
            bytes += entry.get::<_, i64>(1)?.unsigned_abs() as usize;
        }
        Ok(None)
    }

    /// Returns the files that the entries of a session before `end` name, without those of copied and imported entries:
    /// an import can name the files of any session.
    fn files_before(
        &self,
        session: SessionKey,
        end: Option<Sequence>,
    ) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT format, data, metadata FROM event
             WHERE aggregate = ?1 AND seq < ifnull(?2, 9223372036854775807) AND type = ?3
               AND NOT EXISTS (SELECT 1 FROM imported i
                 WHERE i.aggregate = event.aggregate AND first <= event.seq AND last >= event.seq)",
        )?;
        let mut entries = statement.query(params![session, end, ToolSuccess::NUMBER])?;
        let mut files = Vec::new();
        while let Some(entry) = entries.next()? {
            // A damaged entry must not keep its session from being deleted.
            let Ok(format) = entry.get::<_, Format>(0) else {
                continue;
            };
            let data = format.payload(entry.get_ref(1)?).ok().flatten();
            let metadata = format.metadata(entry.get_ref(2)?).ok().flatten();
            let metadata = metadata.and_then(|text| serde_json::from_str(&text).ok());
            if !metadata.as_ref().is_some_and(is_copied) {
                files.extend(data.into_iter().flat_map(files_in));
            }
        }
        Ok(files)
    }
}

/// The part of a result that names files.
#[derive(Deserialize)]
struct NamedFiles {
    #[serde(rename = "outputPaths", default)]
    output_paths: Vec<String>,
}

/// Returns the files in the payload of a result. In the former format, the payload may lack its first member, whose
/// entry may be deleted already.
fn files_in(data: Cow<'_, str>) -> Vec<String> {
    if !data.contains("\"outputPaths\"") {
        return Vec::new();
    }
    serde_json::from_str(&former::object(data))
        .map_or_else(|_| Vec::new(), |it: NamedFiles| it.output_paths)
}

/// True if the metadata belong to an entry that a fork copied.
pub(crate) fn is_copied(metadata: &Record) -> bool {
    metadata.get(COPIED).is_some_and(|it| *it == true)
}

impl Transaction<'_> {
    /// Removes a session from every read, and announces `session.deleted` with its last record. [`purge`](Self::purge)
    /// deletes its rows.
    pub fn hide(&mut self, session: &SessionRow, now: Millis) -> Result<(), StoreError> {
        let key = session.key;
        let info = self.reader().whole_session_record(session)?;
        let seq = self.reader().latest_seq(key)?.next();
        self.hide_rows(key)?;
        let event = DurableEvent {
            id: self.event_id(),
            session_id: session.info.id.clone(),
            seq: seq.into(),
            timestamp: now,
            payload: SessionDeleted { info }.into(),
            metadata: None,
        };
        self.appended(Committed {
            event,
            location: Some(session.info.location.clone()),
            updated: None,
            followed_by: Vec::new(),
            derived: Vec::new(),
            aggregate: key,
            announced: true,
        })
    }

    /// Removes a session from every read although it cannot be read. There is no record to announce.
    pub fn hide_unreadable(&self, id: &SessionID) -> Result<(), StoreError> {
        let key: Option<SessionKey> = self
            .connection
            .prepare_cached("SELECT key FROM aggregate WHERE id = ?")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        key.map_or(Ok(()), |key| self.hide_rows(key))
    }

    fn hide_rows(&self, key: SessionKey) -> Result<(), StoreError> {
        for sql in [
            "UPDATE removed SET key = max(key, ?), residue = 1, removals = removals + 1 WHERE rowid = 1",
            "INSERT INTO hidden (aggregate, is_copy) VALUES (?, 0)",
            // No id of a session contains a slash, so the former id can be used again.
            "UPDATE aggregate SET id = 'removed/' || key, pending = 0 WHERE key = ?",
            "DELETE FROM session WHERE aggregate = ?",
        ] {
            self.run(sql, [key])?;
        }
        Ok(())
    }

    /// Deletes at most about `rows` entries of removed sessions, with the rows that belong to them. Records the files
    /// that they name, see [`removed_files`](Reader::removed_files). Returns true if rows of removed sessions remain.
    pub fn purge(&self, rows: usize) -> Result<bool, StoreError> {
        let reader = self.reader();
        let Some(key) = reader.removed_session()? else {
            return Ok(false);
        };
        let end = reader.end_of_step(key, rows)?;
        for path in reader.files_before(key, end)? {
            self.run(
                "INSERT INTO removed_file (path) VALUES (?) ON CONFLICT DO NOTHING",
                [path],
            )?;
        }
        match end {
            Some(end) => {
                for sql in [
                    "DELETE FROM part WHERE aggregate = ? AND message < ?",
                    "DELETE FROM message WHERE aggregate = ? AND seq < ?",
                    "DELETE FROM input WHERE aggregate = ? AND admitted < ?",
                    "DELETE FROM event WHERE aggregate = ? AND seq < ?",
                ] {
                    self.run(sql, (key, end))?;
                }
            }
            // Foreign keys delete the other rows.
            None => self.run("DELETE FROM aggregate WHERE key = ?", [key])?,
        }
        Ok(end.is_some() || reader.removed_session()?.is_some())
    }
}
