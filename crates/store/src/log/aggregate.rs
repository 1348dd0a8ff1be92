//! A session's log as a whole: where it stands, who owns it, and its end.

use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// Where a session's log stands.
pub(crate) struct Aggregate {
    /// The key under which log and projections are found.
    pub(crate) key: i64,
    /// Sequence of its newest entry, -1 before the first.
    latest: i64,
    /// Who owns it.
    pub(crate) owner: Option<String>,
}

impl Aggregate {
    /// The sequence that comes next.
    pub(crate) fn next(&self) -> u64 {
        (self.latest + 1) as u64
    }
}

impl Reader<'_> {
    pub(crate) fn aggregate(&self, id: &SessionID) -> Result<Option<Aggregate>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT key, seq, owner FROM aggregate WHERE id = ?")?
            .query_row([id.as_str()], |row| {
                Ok(Aggregate {
                    key: row.get(0)?,
                    latest: row.get(1)?,
                    owner: row.get(2)?,
                })
            })
            .optional()?)
    }

    pub(crate) fn session_id(&self, key: i64) -> Result<SessionID, StoreError> {
        let text: String = self
            .connection
            .prepare_cached("SELECT id FROM aggregate WHERE key = ?")?
            .query_row([key], |row| row.get(0))?;
        SessionID::parse(&text).map_err(StoreError::corrupt_row)
    }

    /// Sequence of the newest entry of a session's log.
    pub fn latest_seq(&self, session: i64) -> Result<u64, StoreError> {
        let seq: i64 = self
            .connection
            .prepare_cached("SELECT seq FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))?;
        Ok(seq.max(0) as u64)
    }

    /// Who owns a session's log. Who runs the session has nothing to do with it.
    pub fn owner(&self, session: i64) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT owner FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))?)
    }
}

impl Transaction<'_> {
    /// The log of a session, which its first entry makes.
    pub(crate) fn aggregate_for(
        &self,
        id: &SessionID,
        event: &SessionEvent,
    ) -> Result<Option<Aggregate>, StoreError> {
        let found = self.reader().aggregate(id)?;
        if found.is_some() || !matches!(event, SessionEvent::SessionCreated(_)) {
            return Ok(found);
        }
        self.run(
            "INSERT INTO aggregate (key, id, seq) VALUES (1 + max(
               (SELECT ifnull(max(key), 0) FROM aggregate),
               (SELECT key FROM removed WHERE rowid = 1)), ?, -1)",
            [id.as_str()],
        )?;
        Ok(Some(Aggregate {
            key: self.connection.last_insert_rowid(),
            latest: -1,
            owner: None,
        }))
    }

    /// Gives a log that nobody owns to whoever replays it first.
    pub(crate) fn adopt(&self, aggregate: i64, owner: Option<&str>) -> Result<(), StoreError> {
        match owner {
            Some(owner) => self.run(
                "UPDATE aggregate SET owner = ?2 WHERE key = ?1 AND owner IS NULL",
                params![aggregate, owner],
            ),
            None => Ok(()),
        }
    }

    /// Makes `owner` the owner of a session's log, whoever owned it before. Returns whether there
    /// is such a session.
    pub fn claim(&self, id: &SessionID, owner: &str) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached("UPDATE aggregate SET owner = ?2 WHERE id = ?1")?
            .execute([id.as_str(), owner])?;
        Ok(changed > 0)
    }

    /// Removes a session: its log and everything that was projected from it. Returns whether there
    /// was one. Nobody is told of this; append `session.deleted` before it, in the same command.
    pub fn remove(&self, id: &SessionID) -> Result<bool, StoreError> {
        let Some(Aggregate { key, .. }) = self.reader().aggregate(id)? else {
            return Ok(false);
        };
        self.run(
            "UPDATE removed SET key = max(key, ?) WHERE rowid = 1",
            [key],
        )?;
        // The rest goes with it.
        self.run("DELETE FROM aggregate WHERE key = ?", [key])?;
        Ok(true)
    }
}
