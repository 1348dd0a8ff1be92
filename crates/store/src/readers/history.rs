//! Incremental reads of the active history, for callers that already have a part of it.

use opencode_schema::message::SessionMessage;
use rusqlite::OptionalExtension;

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::projections::kind::MessageKind;
use crate::view::reader::Reader;

/// The extent of the active history that a caller has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPoint {
    selection: Selection,
    /// Newest entry that the caller has processed.
    seq: Sequence,
}

impl HistoryPoint {
    /// Returns the sequence of the newest entry that the caller has processed.
    #[must_use]
    pub fn seq(&self) -> Sequence {
        self.seq
    }
}

/// The values that select the messages of the active history. While they stay the same, the history
/// only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Selection {
    /// Key of the session. No other session ever has the same key.
    session: SessionKey,
    /// Sequence of the newest checkpoint, if any.
    checkpoint: Option<Sequence>,
    /// Sequence of the newest entry when the Baseline System Context was created, if there is one.
    baseline: Option<Sequence>,
    /// Sequence of the newest committed revert.
    reverted: Sequence,
}

/// The messages after a [`HistoryPoint`].
#[derive(Debug)]
pub struct HistoryRead {
    /// True if the messages are the whole history. The caller must then discard its older messages.
    pub is_whole: bool,
    /// New and changed messages, by sequence.
    pub messages: Vec<(Sequence, SessionMessage)>,
    /// Point that these messages extend to.
    pub point: HistoryPoint,
}

impl Reader<'_> {
    /// Returns the active history after a point. Returns all of it if `known` is absent, or if the
    /// session was compacted or reverted or received another baseline after that point.
    pub fn history_since(
        &self,
        session: SessionKey,
        known: Option<&HistoryPoint>,
    ) -> Result<HistoryRead, StoreError> {
        let point = HistoryPoint {
            selection: self.selection(session)?,
            seq: self.latest_seq(session)?,
        };
        let known = known.filter(|known| known.selection == point.selection);
        let is_whole = known.is_none();
        let messages = match known {
            None => self.history(session)?,
            Some(known) => {
                let mut changed = self.changed_since(session, known.seq)?;
                // Messages before the checkpoint can still change, but the active history does not
                // contain them.
                changed.retain(|(seq, _)| Some(*seq) >= point.selection.checkpoint);
                changed
            }
        };
        Ok(HistoryRead {
            is_whole,
            messages,
            point,
        })
    }

    fn selection(&self, session: SessionKey) -> Result<Selection, StoreError> {
        let found = self
            .connection
            .prepare_cached(&format!(
                "SELECT reverted,
                   (SELECT max(seq) FROM message WHERE aggregate = ?1 AND type = {checkpoint}),
                   (SELECT baseline_seq FROM context_epoch WHERE aggregate = ?1)
                 FROM aggregate WHERE key = ?1",
                checkpoint = MessageKind::COMPACTION
            ))?
            .query_row([session], |row| {
                Ok(Selection {
                    session,
                    reverted: row.get(0)?,
                    checkpoint: row.get(1)?,
                    baseline: row.get(2)?,
                })
            })
            .optional()?;
        found.ok_or_else(|| StoreError::Database(format!("there is no session of key {session}")))
    }
}
