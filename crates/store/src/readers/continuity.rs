//! Reads to decide if a request can continue from the previous one: the request data of the last
//! step, and the later changes of the history.

use opencode_schema::Record;
use opencode_schema::event::{
    CompactionEnded, Moved, Pruned, RevertCommitted, SessionEvent, StepEnded, StepFailed,
    StepStarted,
};
use opencode_schema::model::ModelRef;
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::format::version::Kind;
use crate::integer::{Sequence, SessionKey};
use crate::projections::messages::entry;
use crate::view::reader::Reader;

/// Number in the database of a checkpoint of version 1, which logs of other programs contain.
const COMPACTION_ENDED_1: u32 = Kind::older(CompactionEnded::NUMBER, 1);

/// The newest ended step with additive values about its request.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    /// Sequence of the entry that began the step. The request contains only older data.
    pub seq: Sequence,
    /// Model of the request.
    pub model: ModelRef,
    /// Additive values of the end of the step.
    pub metadata: Record,
}

/// Changes of the active history other than growth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryChanges {
    /// The session moved.
    pub moved: bool,
    /// Tool outputs were pruned.
    pub pruned: bool,
    /// The history was compacted.
    pub compacted: bool,
    /// A revert was committed.
    pub reverted: bool,
    /// A new Context Epoch began, even if its baseline text is equal.
    pub replaced: bool,
}

impl Reader<'_> {
    /// Returns the newest step of a session with additive values at its end. Reads the log and not
    /// the messages, because a revert can remove the message of a request that was sent.
    pub fn recorded_step(&self, session: SessionKey) -> Result<Option<RecordedStep>, StoreError> {
        let found: Option<(Sequence, Sequence)> = self
            .connection
            .prepare_cached(
                // The steps of a session never overlap.
                "SELECT began.seq, ended.seq FROM event ended
                 JOIN event began ON began.aggregate = ended.aggregate AND began.seq = (
                   SELECT max(seq) FROM event
                   WHERE aggregate = ended.aggregate AND seq < ended.seq AND type = ?2)
                 WHERE ended.aggregate = ?1 AND ended.type IN (?3, ?4)
                   AND ended.metadata IS NOT NULL
                 ORDER BY ended.seq DESC LIMIT 1",
            )?
            .query_row(
                (
                    session,
                    StepStarted::NUMBER,
                    StepEnded::NUMBER,
                    StepFailed::NUMBER,
                ),
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((started, settled)) = found else {
            return Ok(None);
        };
        let entries = self.gather(session, vec![started, settled])?;
        let SessionEvent::StepStarted(step) = entry(&entries, started)?.payload()? else {
            return Err(StoreError::corrupt(started, "it does not start a step"));
        };
        Ok(Some(RecordedStep {
            seq: started,
            model: step.model,
            metadata: entry(&entries, settled)?.additive()?.unwrap_or_default(),
        }))
    }

    /// Returns the changes of the active history after the entry `after`. Reads only newer entries.
    pub fn history_changes(
        &self,
        session: SessionKey,
        after: Sequence,
    ) -> Result<HistoryChanges, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT type FROM event
             WHERE aggregate = ?1 AND seq > ?2 AND type IN (?3, ?4, ?5, ?6, ?7)",
        )?;
        let began = self.baseline_seq(session)?;
        let mut changes = HistoryChanges {
            replaced: began.is_some_and(|seq| seq > after),
            ..HistoryChanges::default()
        };
        let mut rows = statement.query(params![
            session,
            after,
            Moved::NUMBER,
            Pruned::NUMBER,
            CompactionEnded::NUMBER,
            COMPACTION_ENDED_1,
            RevertCommitted::NUMBER,
        ])?;
        while let Some(row) = rows.next()? {
            match row.get::<_, u32>(0)? {
                Moved::NUMBER => changes.moved = true,
                Pruned::NUMBER => changes.pruned = true,
                CompactionEnded::NUMBER | COMPACTION_ENDED_1 => changes.compacted = true,
                _ => changes.reverted = true,
            }
        }
        Ok(changes)
    }
}
