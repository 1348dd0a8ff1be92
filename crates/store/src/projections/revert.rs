//! Reverts of a session: the staged revert, and the data that a committed revert deletes.

use opencode_schema::clock::Millis;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::MessageID;
use opencode_schema::session::RevertState;
use rusqlite::{OptionalExtension, params};

use crate::error::{Abort, StoreError};
use crate::format::packed::unpack;
use crate::integer::{Sequence, SessionKey};
use crate::projections::LifecycleConflict;
use crate::projections::kind::MessageKind;
use crate::projections::messages::entry;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// File changes of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFiles {
    /// Snapshot before the step.
    pub start: String,
    /// Snapshot after the step.
    pub end: String,
    /// Paths that differ between the two snapshots.
    pub files: Vec<String>,
}

impl Reader<'_> {
    /// Returns the file changes of the session's steps, from the message at sequence `from` on.
    /// Omits steps without known changes.
    pub fn step_files(
        &self,
        session: SessionKey,
        from: Sequence,
    ) -> Result<Vec<StepFiles>, StoreError> {
        self.step_files_between(session, from, Sequence::AFTER_LAST)
    }

    /// As [`step_files`](Self::step_files), up to the message before sequence `end`.
    pub(crate) fn step_files_between(
        &self,
        session: SessionKey,
        from: Sequence,
        end: Sequence,
    ) -> Result<Vec<StepFiles>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, settled FROM message
             WHERE aggregate = ?1 AND seq >= ?2 AND seq < ?4 AND type = ?3 AND settled IS NOT NULL
             ORDER BY seq",
        )?;
        let steps = statement
            .query_map((session, from, MessageKind::ASSISTANT, end), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<Result<Vec<(Sequence, Sequence)>, _>>()?;
        let seqs = steps.iter().flat_map(|(seq, settled)| [*seq, *settled]);
        let entries = self.gather(session, seqs.collect())?;
        let mut found = Vec::new();
        for (seq, settled) in steps {
            let started = entry(&entries, seq)?.payload()?;
            let ended = entry(&entries, settled)?.payload()?;
            found.extend(step_files(started, ended));
        }
        Ok(found)
    }

    /// Returns the sequence of the entry that created a message of this session.
    pub fn message_seq(
        &self,
        session: SessionKey,
        id: &MessageID,
    ) -> Result<Option<Sequence>, StoreError> {
        let position = self.message_position(id)?;
        let seq = position.filter(|(owner, _)| *owner == session);
        Ok(seq.map(|(_, seq)| seq))
    }

    /// Returns the last prompt before an entry of a session.
    pub fn prompt_before(
        &self,
        session: SessionKey,
        before: Sequence,
    ) -> Result<Option<MessageID>, StoreError> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT seq, id FROM message WHERE aggregate = ? AND seq < ? AND type = ?
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row((session, before, MessageKind::USER), |row| {
                Ok((row.get(0)?, unpack("msg_", row.get_ref(1)?)))
            })
            .optional()?;
        let Some((seq, id)): Option<(Sequence, _)> = found else {
            return Ok(None);
        };
        let id = id.map_err(|error| StoreError::corrupt(seq, error))?;
        let id = MessageID::parse(&id).map_err(|error| StoreError::corrupt(seq, error))?;
        Ok(Some(id))
    }

    /// Returns every snapshot that the staged reverts of all sessions may need.
    pub fn staged_snapshots(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT aggregate, staged FROM session WHERE staged IS NOT NULL ORDER BY aggregate",
        )?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut snapshots = Vec::new();
        for row in rows {
            let (session, staged): (SessionKey, Sequence) = row?;
            snapshots.extend(self.snapshots_of(session, Some(staged))?);
        }
        Ok(snapshots)
    }

    /// Returns the snapshots of the session's steps with changes, and of its staged revert.
    pub(crate) fn snapshots_of(
        &self,
        session: SessionKey,
        staged: Option<Sequence>,
    ) -> Result<Vec<String>, StoreError> {
        let mut snapshots = Vec::new();
        if let Some(staged) = staged {
            snapshots.extend(self.staged_by(session, staged)?.snapshot);
        }
        for step in self.step_files(session, Sequence::FIRST)? {
            snapshots.extend([step.start, step.end]);
        }
        Ok(snapshots)
    }

    /// Returns the revert that the entry at `seq` staged. Fails if the entry is not a staged
    /// revert.
    pub(crate) fn staged_by(
        &self,
        session: SessionKey,
        seq: Sequence,
    ) -> Result<RevertState, StoreError> {
        let entries = self.gather(session, vec![seq])?;
        match entry(&entries, seq)?.payload()? {
            SessionEvent::RevertStaged(staged) => Ok(staged.revert),
            _ => Err(StoreError::corrupt(seq, "it stages no revert")),
        }
    }

    pub(crate) fn staged(&self, session: SessionKey) -> Result<Option<RevertState>, StoreError> {
        let seq: Option<Sequence> = self
            .connection
            .prepare_cached("SELECT staged FROM session WHERE aggregate = ?")?
            .query_row([session], |row| row.get(0))
            .optional()?
            .flatten();
        seq.map(|seq| self.staged_by(session, seq)).transpose()
    }
}

fn step_files(started: SessionEvent, ended: SessionEvent) -> Option<StepFiles> {
    let (SessionEvent::StepStarted(started), SessionEvent::StepEnded(ended)) = (started, ended)
    else {
        return None;
    };
    Some(StepFiles {
        start: started.snapshot?,
        end: ended.snapshot?,
        files: ended.files.filter(|files| !files.is_empty())?,
    })
}

impl Transaction<'_> {
    /// Records the entry that stages a revert, or `None` if no revert is staged.
    pub(crate) fn stage(
        &self,
        aggregate: SessionKey,
        staged: Option<Sequence>,
        time: Millis,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET staged = ?2, time_updated = ?3 WHERE aggregate = ?1",
            params![aggregate, staged, time],
        )
    }

    /// Deletes all messages after the boundary. The boundary, the log and the inbox stay. If the
    /// boundary is within a message, the message keeps the parts before it.
    ///
    /// If a Mid-Conversation System Message is deleted, the epoch is also deleted, because its
    /// snapshot would be ahead of the state that the model has received.
    pub(crate) fn commit_revert(
        &self,
        aggregate: SessionKey,
        at: Sequence,
        boundary: &MessageID,
        time: Millis,
    ) -> Result<(), Abort<LifecycleConflict>> {
        let position = self.reader().message_position(boundary)?;
        let Some((_, seq)) = position.filter(|(owner, _)| *owner == aggregate) else {
            return Err(Abort::Refused(LifecycleConflict::NoBoundary(
                boundary.clone(),
            )));
        };
        self.run(
            &format!(
                "DELETE FROM context_epoch WHERE aggregate = ?1 AND EXISTS (
                   SELECT 1 FROM message m WHERE m.aggregate = ?1 AND m.type = {system}
                     AND m.seq > ?2 AND m.seq > context_epoch.baseline_seq)",
                system = MessageKind::SYSTEM
            ),
            (aggregate, seq),
        )?;
        for sql in [
            "DELETE FROM part WHERE aggregate = ?1 AND message > ?2",
            "DELETE FROM message WHERE aggregate = ?1 AND seq > ?2",
        ] {
            self.run(sql, (aggregate, seq))?;
        }
        self.revert_settings(aggregate, seq)?;
        let staged = self.reader().staged(aggregate)?;
        let staged = staged.filter(|staged| staged.message_id == *boundary);
        if let Some(part) = staged.and_then(|staged| staged.part_id) {
            self.delete_parts_from(aggregate, seq, &part, at)?;
        }
        self.run(
            "UPDATE aggregate SET reverted = ?2 WHERE key = ?1",
            (aggregate, at),
        )?;
        self.collect_changes(aggregate)?;
        self.stage(aggregate, None, time)?;
        Ok(())
    }

    /// Deletes the last part of this name and all parts after it.
    fn delete_parts_from(
        &self,
        aggregate: SessionKey,
        message: Sequence,
        name: &str,
        at: Sequence,
    ) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM part WHERE aggregate = ?1 AND message = ?2 AND position >= (
               SELECT max(position) FROM part WHERE aggregate = ?1 AND message = ?2 AND name = ?3)",
            params![aggregate, message, name],
        )?;
        self.run(
            "UPDATE message SET changed = ?3 WHERE aggregate = ?1 AND seq = ?2",
            (aggregate, message, at),
        )
    }
}
