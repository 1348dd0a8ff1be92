//! Context Epochs: the text that the model received at the start of one, and related data.

use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// Maximum number of remembered directories of a session; the first ones that it read are kept. The
/// host inspects each of them before every Provider Turn.
const MAX_EXPLORED: i64 = 1000;

/// The Context Epoch of a session: the exact text sent and the data that it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Baseline System Context.
    pub baseline: String,
    /// Context Snapshot as JSON text.
    pub snapshot: String,
    /// Sequence of the newest entry when the baseline was created.
    pub baseline_seq: Sequence,
}

impl Reader<'_> {
    /// Returns the Context Epoch of a session, if it has one.
    pub fn epoch(&self, session: SessionKey) -> Result<Option<Epoch>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT baseline, snapshot, baseline_seq FROM context_epoch WHERE aggregate = ?",
            )?
            .query_row([session], |row| {
                Ok(Epoch {
                    baseline: row.get(0)?,
                    snapshot: row.get(1)?,
                    baseline_seq: row.get(2)?,
                })
            })
            .optional()?)
    }

    /// Returns the sequence of the newest entry when the baseline of the session's epoch was
    /// created, if it has one.
    pub fn baseline_seq(&self, session: SessionKey) -> Result<Option<Sequence>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT baseline_seq FROM context_epoch WHERE aggregate = ?")?
            .query_row([session], |row| row.get(0))
            .optional()?)
    }

    /// Returns the directories in which the session's tools read files since the session moved to
    /// its Location. They are relative to the Location and sorted by name.
    pub fn explored(&self, session: SessionKey) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT directory FROM explored WHERE aggregate = ? ORDER BY directory",
        )?;
        let rows = statement.query_map([session], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl Transaction<'_> {
    /// Replaces the Context Epoch of a session.
    pub fn set_epoch(&self, session: SessionKey, epoch: &Epoch) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO context_epoch (aggregate, baseline, snapshot, baseline_seq)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (aggregate) DO UPDATE
             SET baseline = ?2, snapshot = ?3, baseline_seq = ?4",
            params![session, epoch.baseline, epoch.snapshot, epoch.baseline_seq],
        )
    }

    /// Replaces the Context Snapshot of a session's epoch. The baseline stays.
    pub fn set_snapshot(&self, session: SessionKey, snapshot: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE context_epoch SET snapshot = ?2 WHERE aggregate = ?1",
            params![session, snapshot],
        )
    }

    /// Remembers that a tool read a file in this directory, relative to the session's Location.
    /// Ignores new directories after the first thousand.
    pub fn add_explored(&self, session: SessionKey, directory: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO explored (aggregate, directory)
             SELECT ?1, ?2 WHERE (SELECT count(*) FROM explored WHERE aggregate = ?1) < ?3
             ON CONFLICT DO NOTHING",
            params![session, directory, MAX_EXPLORED],
        )
    }
}
