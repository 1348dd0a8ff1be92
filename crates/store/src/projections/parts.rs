//! Projection of Provider Turn events: the assistant's message row and its part rows.
//!
//! A part row has the sequences of the entries that define the part, and never their values.

use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, SessionEvent};
use opencode_schema::id::MessageID;
use rusqlite::{OptionalExtension, params};

use crate::error::{Abort, StoreError};
use crate::format::packed::Packed;
use crate::integer::{Sequence, SessionKey};
use crate::projections::LifecycleConflict;
use crate::projections::kind::{MessageKind, PartKind};
use crate::projections::removal::is_copied;
use crate::view::transaction::Transaction;

/// A state change of a part.
#[derive(Clone, Copy)]
enum Step {
    Input,
    Called,
    Progress,
    /// The end of a text or a reasoning block.
    Closed,
    /// The success of a running call. A pending call has not run yet.
    Succeeded,
    Failed,
}

impl Transaction<'_> {
    pub(crate) fn project_assistant(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
        time: Millis,
        event: &DurableEvent,
    ) -> Result<(), Abort<LifecycleConflict>> {
        let payload = &event.payload;
        if let SessionEvent::StepStarted(started) = payload {
            let id = &started.assistant_message_id;
            self.add(aggregate, seq, id, MessageKind::ASSISTANT)?;
            return Ok(self.close_abandoned(aggregate, seq, time)?);
        }
        let Some(owner) = owner(payload) else {
            return Ok(());
        };
        let Some(message) = self.assistant(aggregate, owner)? else {
            return Ok(());
        };
        let at = At {
            aggregate,
            message,
            seq,
        };
        self.change(&at, time, payload)?;
        if !event.metadata.as_ref().is_some_and(is_copied) {
            if let SessionEvent::StepEnded(_) | SessionEvent::StepFailed(_) = payload {
                self.add_turn(&at, time)?;
            }
            if let SessionEvent::StepEnded(ended) = payload {
                self.add_spent(aggregate, ended.cost, ended.tokens)?;
                self.add_changes(aggregate, message, ended)?;
            }
        }
        self.run(
            "UPDATE message SET changed = ?3 WHERE aggregate = ?1 AND seq = ?2",
            (aggregate, message, seq),
        )?;
        Ok(())
    }

    /// Changes the message or the part.
    fn change(&self, at: &At, time: Millis, payload: &SessionEvent) -> Result<(), StoreError> {
        match payload {
            SessionEvent::StepEnded(_) => {
                self.complete(at, time)?;
                self.run(
                    "UPDATE aggregate SET retries = 0 WHERE key = ? AND retries > 0",
                    [at.aggregate],
                )?;
            }
            SessionEvent::StepFailed(_) => self.complete(at, time)?,
            SessionEvent::OutputProduced(_) => {
                self.settle_output(at.aggregate, at.seq)?;
                self.run(
                    "UPDATE message SET output = ?3 WHERE aggregate = ?1 AND seq = ?2",
                    (at.aggregate, at.message, at.seq),
                )?;
            }
            SessionEvent::OutputFailed(_) => self.settle_output(at.aggregate, at.seq)?,
            SessionEvent::TextStarted(it) => self.begin(at, PartKind::TEXT, &it.text_id)?,
            SessionEvent::TextEnded(it) => {
                self.advance(at, PartKind::TEXT, &it.text_id, Step::Closed)?;
            }
            SessionEvent::ReasoningStarted(it) => {
                self.begin(at, PartKind::REASONING, &it.reasoning_id)?;
            }
            SessionEvent::ReasoningEnded(it) => {
                self.advance(at, PartKind::REASONING, &it.reasoning_id, Step::Closed)?;
            }
            SessionEvent::ToolInputStarted(it) => self.begin(at, PartKind::TOOL, &it.call_id)?,
            SessionEvent::ToolInputEnded(it) => {
                self.advance(at, PartKind::TOOL, &it.call_id, Step::Input)?;
            }
            SessionEvent::ToolCalled(it) => {
                self.advance(at, PartKind::TOOL, &it.call_id, Step::Called)?;
            }
            SessionEvent::ToolProgress(it) => {
                self.advance(at, PartKind::TOOL, &it.call_id, Step::Progress)?;
            }
            SessionEvent::ToolSuccess(it) => {
                self.advance(at, PartKind::TOOL, &it.call_id, Step::Succeeded)?;
            }
            SessionEvent::ToolFailed(it) => {
                self.advance(at, PartKind::TOOL, &it.call_id, Step::Failed)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Closes a turn that a crash abandoned or whose stream never finished, when the next turn
    /// begins. Because each turn does this, only the latest turn can be open.
    fn close_abandoned(
        &self,
        aggregate: SessionKey,
        seq: Sequence,
        time: Millis,
    ) -> Result<(), StoreError> {
        self.run(
            &format!(
                "UPDATE message INDEXED BY message_open SET completed = ?3, changed = ?2
                 WHERE aggregate = ?1 AND type = {assistant} AND completed IS NULL AND seq < ?2",
                assistant = MessageKind::ASSISTANT
            ),
            (aggregate, seq, time),
        )
    }

    /// Returns the sequence of an assistant message of this session.
    pub(crate) fn assistant(
        &self,
        aggregate: SessionKey,
        id: &MessageID,
    ) -> Result<Option<Sequence>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT seq FROM message WHERE id = ? AND aggregate = ? AND type = ?")?
            .query_row(
                params![Packed::message(id), aggregate, MessageKind::ASSISTANT],
                |row| row.get(0),
            )
            .optional()?)
    }

    fn complete(&self, at: &At, time: Millis) -> Result<(), StoreError> {
        self.run(
            "UPDATE message SET settled = ?3, completed = ?4 WHERE aggregate = ?1 AND seq = ?2",
            (at.aggregate, at.message, at.seq, time),
        )
    }

    /// Counts a Provider Turn that ended now.
    fn add_turn(&self, at: &At, time: Millis) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET turns = turns + 1, worked = worked + max(0, ?3 - (
               SELECT time FROM event WHERE aggregate = ?1 AND seq = ?2))
             WHERE aggregate = ?1",
            (at.aggregate, at.message, time),
        )
    }

    fn begin(&self, at: &At, kind: PartKind, name: &str) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO part (aggregate, message, position, kind, name, started)
             SELECT ?1, ?2, 1 + ifnull(max(position), -1), ?3, ?4, ?5
             FROM part WHERE aggregate = ?1 AND message = ?2",
            params![at.aggregate, at.message, kind, name, at.seq],
        )
    }

    /// Advances the last part of that name, if it is in the state that the step requires.
    fn advance(&self, at: &At, kind: PartKind, name: &str, step: Step) -> Result<(), StoreError> {
        let (column, guard) = match step {
            Step::Input => ("input", "called IS NULL AND settled IS NULL"),
            Step::Called => ("called", "called IS NULL AND settled IS NULL"),
            Step::Progress => ("progress", "called IS NOT NULL AND settled IS NULL"),
            Step::Closed => ("settled", "1"),
            Step::Succeeded => ("settled", "called IS NOT NULL AND settled IS NULL"),
            Step::Failed => ("settled", "settled IS NULL"),
        };
        self.run(
            &format!(
                "UPDATE part SET {column} = ?5
                 WHERE aggregate = ?1 AND message = ?2 AND {guard} AND position = ({LAST})"
            ),
            params![at.aggregate, at.message, kind, name, at.seq],
        )
    }

    pub(crate) fn prune(
        &self,
        aggregate: SessionKey,
        message: Sequence,
        name: &str,
        seq: Sequence,
        time: Millis,
    ) -> Result<(), StoreError> {
        self.run(
            &format!(
                "UPDATE part SET pruned = ?5 WHERE aggregate = ?1 AND message = ?2
                 AND position = ({LAST})"
            ),
            params![aggregate, message, PartKind::TOOL, name, time],
        )?;
        self.run(
            "UPDATE message SET changed = ?3 WHERE aggregate = ?1 AND seq = ?2",
            (aggregate, message, seq),
        )
    }
}

/// Selects the last part of this kind and name. Providers reuse names within a message.
pub(crate) const LAST: &str = "SELECT max(position) FROM part
    WHERE aggregate = ?1 AND message = ?2 AND kind = ?3 AND name = ?4";

/// The position of an entry that belongs to a message.
struct At {
    aggregate: SessionKey,
    message: Sequence,
    seq: Sequence,
}

/// Returns the id of the message that an assistant event belongs to.
pub(crate) fn owner(payload: &SessionEvent) -> Option<&MessageID> {
    match payload {
        SessionEvent::StepEnded(it) => Some(&it.assistant_message_id),
        SessionEvent::StepFailed(it) => Some(&it.assistant_message_id),
        SessionEvent::OutputProduced(it) => Some(&it.assistant_message_id),
        SessionEvent::OutputFailed(it) => Some(&it.assistant_message_id),
        SessionEvent::TextStarted(it) => Some(&it.assistant_message_id),
        SessionEvent::TextEnded(it) => Some(&it.assistant_message_id),
        SessionEvent::ReasoningStarted(it) => Some(&it.assistant_message_id),
        SessionEvent::ReasoningEnded(it) => Some(&it.assistant_message_id),
        SessionEvent::ToolInputStarted(it) => Some(&it.assistant_message_id),
        SessionEvent::ToolInputEnded(it) => Some(&it.assistant_message_id),
        SessionEvent::ToolCalled(it) => Some(&it.assistant_message_id),
        SessionEvent::ToolProgress(it) => Some(&it.assistant_message_id),
        SessionEvent::ToolSuccess(it) => Some(&it.assistant_message_id),
        SessionEvent::ToolFailed(it) => Some(&it.assistant_message_id),
        _ => None,
    }
}
