//! The log of a session as a whole: its position and owner.

use opencode_schema::event::SessionEvent;
use opencode_schema::id::SessionID;
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// The position and the owner of a session's log.
pub(crate) struct Aggregate {
    /// Key of the session in the log and in the projections.
    pub(crate) key: SessionKey,
    /// Sequence of the next entry.
    pub(crate) next: Sequence,
    /// Owner of the log.
    pub(crate) owner: Option<String>,
}

impl Reader<'_> {
    pub(crate) fn aggregate(&self, id: &SessionID) -> Result<Option<Aggregate>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT key, seq + 1, owner FROM aggregate WHERE id = ?")?
            .query_row([id.as_str()], |row| {
                Ok(Aggregate {
                    key: row.get(0)?,
                    next: row.get(1)?,
                    owner: row.get(2)?,
                })
            })
            .optional()?)
    }

    pub(crate) fn session_id(&self, key: SessionKey) -> Result<SessionID, StoreError> {
        let text: String = self
            .connection
            .prepare_cached("SELECT id FROM aggregate WHERE key = ?")?
            .query_row([key], |row| row.get(0))?;
        SessionID::parse(&text).map_err(StoreError::corrupt_row)
    }

    /// Returns the sequence of the newest entry of a session's log.
    pub fn latest_seq(&self, session: SessionKey) -> Result<Sequence, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT seq FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))?)
    }

    /// Returns the owner of a session's log. The owner is independent of the host that runs the
    /// session.
    pub fn owner(&self, session: SessionKey) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT owner FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))?)
    }
}

impl Transaction<'_> {
    /// Returns the log of a session. The first entry of a session creates its log.
    pub(crate) fn aggregate_for(
        &self,
        id: &SessionID,
        event: &SessionEvent,
    ) -> Result<Option<Aggregate>, StoreError> {
        let found = self.reader().aggregate(id)?;
        if found.is_some() || !matches!(event, SessionEvent::SessionCreated(_)) {
            return Ok(found);
        }
        Ok(Some(Aggregate {
            key: self.add_log(id.as_str(), None)?,
            next: Sequence::FIRST,
            owner: None,
        }))
    }

    /// Adds a log with a key that no log had before. `last` is the sequence of its last entry.
    pub(crate) fn add_log(
        &self,
        id: &str,
        last: Option<Sequence>,
    ) -> Result<SessionKey, StoreError> {
        self.run(
            "INSERT INTO aggregate (key, id, seq) VALUES (1 + max(
               (SELECT ifnull(max(key), 0) FROM aggregate),
               (SELECT key FROM removed WHERE rowid = 1)), ?1, ifnull(?2, -1))",
            params![id, last],
        )?;
        Ok(SessionKey(self.connection.last_insert_rowid()))
    }

    /// Assigns a log without an owner to its first replayer.
    pub(crate) fn set_first_owner(
        &self,
        aggregate: SessionKey,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        match owner {
            Some(owner) => self.run(
                "UPDATE aggregate SET owner = ?2 WHERE key = ?1 AND owner IS NULL",
                params![aggregate, owner],
            ),
            None => Ok(()),
        }
    }

    /// Sets the owner of a session's log and replaces any previous owner. Returns true if the
    /// session exists.
    pub fn claim(&self, id: &SessionID, owner: &str) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached("UPDATE aggregate SET owner = ?2 WHERE id = ?1")?
            .execute([id.as_str(), owner])?;
        Ok(changed > 0)
    }
}
