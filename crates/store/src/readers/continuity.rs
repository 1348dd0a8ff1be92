//! Whether a request can go on from the one before: what the last step recorded of its request, and
//! what happened to the history since.

use opencode_schema::Record;
use opencode_schema::event::SessionEvent;
use opencode_schema::model::ModelRef;
use rusqlite::OptionalExtension;

use crate::error::StoreError;
use crate::projections::messages::{entry, metadata};
use crate::view::reader::Reader;

/// Catalogue numbers of what changes the active history otherwise than by adding to it.
mod number {
    pub(super) const MOVED: u32 = 12;
    pub(super) const PRUNED: u32 = 17;
    pub(super) const COMPACTED: u32 = 37;
    pub(super) const COMPACTED_1: u32 = 1037;
    pub(super) const REVERTED: u32 = 40;
}

/// The newest step with an end on record that has something to say of its request.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    /// The entry that it began with. What its request knew is older.
    pub seq: u64,
    /// The model that was asked.
    pub model: ModelRef,
    /// Additive values of its end.
    pub metadata: Record,
}

/// What happened to the active history, beside its growth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryChanges {
    /// The session moved.
    pub moved: bool,
    /// Outputs of tools were pruned.
    pub pruned: bool,
    /// It was compacted.
    pub compacted: bool,
    /// A revert was carried out.
    pub reverted: bool,
    /// Another Context Epoch began, however its baseline reads.
    pub replaced: bool,
}

impl Reader<'_> {
    /// The newest step of a session whose end carries additive values. The log is asked, because a
    /// message that was reverted is no message any more, and yet its request was sent.
    pub fn recorded_step(&self, session: i64) -> Result<Option<RecordedStep>, StoreError> {
        let found: Option<(i64, i64)> = self
            .connection
            .prepare_cached(
                // 22 begins a step, 23 and 24 end one; a session makes one step after the other.
                "SELECT began.seq, ended.seq FROM event ended
                 JOIN event began ON began.aggregate = ended.aggregate AND began.seq = (
                   SELECT max(seq) FROM event
                   WHERE aggregate = ended.aggregate AND seq < ended.seq AND type = 22)
                 WHERE ended.aggregate = ? AND ended.type IN (23, 24)
                   AND ended.metadata IS NOT NULL
                 ORDER BY ended.seq DESC LIMIT 1",
            )?
            .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((started, settled)) = found else {
            return Ok(None);
        };
        let entries = self.gather(session, vec![started, settled])?;
        let SessionEvent::StepStarted(step) = entry(&entries, started)?.payload()? else {
            return Err(StoreError::corrupt(started, "it does not start a step"));
        };
        Ok(Some(RecordedStep {
            seq: started as u64,
            model: step.model,
            metadata: metadata(entry(&entries, settled)?)?.unwrap_or_default(),
        }))
    }

    /// What happened to the active history behind the entry `after`. Looks at what is newer alone.
    pub fn history_changes(&self, session: i64, after: u64) -> Result<HistoryChanges, StoreError> {
        use number::{COMPACTED, COMPACTED_1, MOVED, PRUNED, REVERTED};
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT type FROM event
             WHERE aggregate = ?1 AND seq > ?2 AND type IN (?3, ?4, ?5, ?6, ?7)",
        )?;
        let began = self.baseline_seq(session)?;
        let mut changes = HistoryChanges {
            replaced: began.is_some_and(|seq| seq > after),
            ..HistoryChanges::default()
        };
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let values = [MOVED, PRUNED, COMPACTED, COMPACTED_1, REVERTED].map(i64::from);
        let [moved, pruned, compacted, compacted_1, reverted] = values;
        let values = [
            session,
            after,
            moved,
            pruned,
            compacted,
            compacted_1,
            reverted,
        ];
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            match row.get::<_, u32>(0)? {
                MOVED => changes.moved = true,
                PRUNED => changes.pruned = true,
                COMPACTED | COMPACTED_1 => changes.compacted = true,
                _ => changes.reverted = true,
            }
        }
        Ok(changes)
    }
}
