//! The active history as it grows: what somebody who knows a part of it has to read anew.

use opencode_schema::message::SessionMessage;
use rusqlite::OptionalExtension;

use crate::error::StoreError;
use crate::view::reader::Reader;

/// How far somebody knows the active history of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPoint {
    selection: Selection,
    /// Newest entry that is accounted for.
    seq: u64,
}

impl HistoryPoint {
    /// The newest entry that is accounted for.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }
}

/// What decides which messages the active history has. While it stays the same, the history only
/// grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Selection {
    /// Its key, which no other session ever has.
    session: i64,
    /// Entry of the newest checkpoint.
    checkpoint: i64,
    /// Newest entry when the Baseline System Context was made.
    baseline: i64,
    /// Entry of the newest revert that was carried out.
    reverted: i64,
}

/// What has to be known beyond a [`HistoryPoint`].
#[derive(Debug)]
pub struct HistoryRead {
    /// The messages are the whole history, and what was known before holds no longer.
    pub is_whole: bool,
    /// Messages by sequence: those that are new, and those that changed.
    pub messages: Vec<(u64, SessionMessage)>,
    /// How far this goes.
    pub point: HistoryPoint,
}

impl Reader<'_> {
    /// The active history from a point on. Reads all of it where nothing is known, and where the
    /// known part was compacted, reverted or given another baseline since.
    pub fn history_since(
        &self,
        session: i64,
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
                // What lies before the checkpoint may still change, and says nothing any more.
                changed.retain(|(seq, _)| *seq as i64 >= point.selection.checkpoint);
                changed
            }
        };
        Ok(HistoryRead {
            is_whole,
            messages,
            point,
        })
    }

    fn selection(&self, session: i64) -> Result<Selection, StoreError> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT reverted,
                   (SELECT ifnull(max(seq), -1) FROM message WHERE aggregate = ?1 AND type = 6),
                   (SELECT baseline_seq FROM context_epoch WHERE aggregate = ?1)
                 FROM aggregate WHERE key = ?1",
            )?
            .query_row([session], |row| {
                Ok(Selection {
                    session,
                    reverted: row.get(0)?,
                    checkpoint: row.get(1)?,
                    baseline: row.get::<_, Option<i64>>(2)?.unwrap_or(-1),
                })
            })
            .optional()?;
        found.ok_or_else(|| StoreError::Database(format!("there is no session of key {session}")))
    }
}
