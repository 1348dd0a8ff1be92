//! Detection of sessions with an interrupted last activity, from stored data only.
//!
//! The store has no flag for a running session. A process would have to remove it when it dies,
//! which is impossible. The history itself shows the interruption.

use opencode_schema::clock::Millis;
use opencode_schema::event::{self, SessionEvent};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::{ErrorCause, ErrorKind, PAUSED_TURN, TURN_LIMIT};
use rusqlite::{OptionalExtension, Params, Row};
use serde_json::Value;

use crate::error::StoreError;
use crate::format::entry::StoredEvent;
use crate::integer::{Sequence, SessionKey};
use crate::projections::activity::Activity;
use crate::projections::kind::{MessageKind, PartKind};
use crate::projections::messages::entry;
use crate::view::reader::Reader;

/// A session with an interrupted last activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    /// Id of the session.
    pub session_id: SessionID,
    /// State at the interruption.
    pub state: InterruptedState,
    /// Message that shows the interruption: the unanswered prompt, or the answer.
    pub message_id: MessageID,
    /// Sequence of that message.
    pub seq: Sequence,
    /// Creation time of that message, in epoch milliseconds.
    pub time: Millis,
}

/// The state of an activity at its interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptedState {
    /// The newest promoted input has no answer. It is unknown if a request was sent.
    InputUnanswered,
    /// A step started and neither ended nor failed.
    StepOpen,
    /// A step ended with tool results that the model has not received, or the provider paused it,
    /// and no step followed.
    ContinuationDue,
}

/// The newest prompt or answer of a session.
struct Newest {
    session: SessionKey,
    session_id: String,
    seq: Sequence,
    kind: MessageKind,
    settled: Option<Sequence>,
    activity: Option<Activity>,
    /// The newest entry that came with an import.
    imported: Option<Sequence>,
}

impl Newest {
    /// True if this host admitted the prompt or began the answer.
    fn is_own(&self) -> bool {
        self.imported.is_none_or(|last| self.seq > last)
    }
}

impl Reader<'_> {
    /// Returns every session with an interrupted last activity, oldest session first. A turn that a
    /// user stopped, a history that was reverted later, or work that came with an import, does not count
    /// as interrupted.
    ///
    /// Omits a session with unreadable entries, because it cannot continue either.
    pub fn interrupted(&self) -> Result<Vec<Interrupted>, StoreError> {
        let mut found = Vec::new();
        for newest in self
            .newest_turns("1", [])?
            .into_iter()
            .filter(Newest::is_own)
        {
            match self.examine(&newest) {
                Ok(interrupted) => found.extend(interrupted),
                Err(error @ StoreError::Corrupt { .. }) => {
                    tracing::error!(session_id = newest.session_id, %error, "a session is unreadable");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Returns the interruption of one session's last activity, if there is one.
    pub fn interruption(&self, session: SessionKey) -> Result<Option<Interrupted>, StoreError> {
        let newest = self.newest_turns("a.key = ?", [session])?.pop();
        let newest = newest.filter(Newest::is_own);
        newest.map_or(Ok(None), |newest| self.examine(&newest))
    }

    /// As [`Self::interruption`], also for work that came with an import.
    pub fn unfinished_work(&self, session: SessionKey) -> Result<Option<Interrupted>, StoreError> {
        let newest = self.newest_turns("a.key = ?", [session])?.pop();
        newest.map_or(Ok(None), |newest| self.examine(&newest))
    }

    /// True if the history ends with a prompt that came with an import.
    pub fn ends_with_imported_prompt(&self, session: SessionKey) -> Result<bool, StoreError> {
        let newest = self.newest_turns("a.key = ?", [session])?.pop();
        Ok(newest.is_some_and(|it| it.kind == MessageKind::USER && !it.is_own()))
    }

    /// Returns the entry at which the newest activity ended, if it has ended.
    pub(crate) fn activity_end(&self, session: SessionKey) -> Result<Option<Sequence>, StoreError> {
        let ended = self
            .connection
            .prepare_cached(&format!(
                "SELECT max(a.reverted, ifnull(m.settled, -1), ifnull((
                   SELECT max(seq) FROM event WHERE aggregate = a.key AND seq > m.seq AND type = ?2), -1))
                 FROM aggregate a CROSS JOIN message m ON m.aggregate = a.key AND m.seq = (
                   SELECT max(seq) FROM message INDEXED BY message_turn
                   WHERE aggregate = a.key AND type IN ({user}, {assistant}))
                 WHERE a.key = ?1",
                user = MessageKind::USER,
                assistant = MessageKind::ASSISTANT
            ))?
            .query_row((session, event::Interrupted::NUMBER), |row| row.get(0))
            .optional()?;
        Ok(ended.filter(|ended| *ended > Sequence::BEFORE_FIRST))
    }

    fn examine(&self, newest: &Newest) -> Result<Option<Interrupted>, StoreError> {
        let state = self.state_of(newest)?;
        state.map(|state| self.describe(newest, state)).transpose()
    }

    /// Returns the newest prompt or answer of each session, unless a later revert was committed.
    fn newest_turns(
        &self,
        condition: &str,
        values: impl Params,
    ) -> Result<Vec<Newest>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT a.key, a.id, m.seq, m.type, m.settled, s.settings, s.output, s.rejected,
               (SELECT max(last) FROM imported WHERE imported.aggregate = a.key)
             FROM session s CROSS JOIN aggregate a ON a.key = s.aggregate
             CROSS JOIN message m ON m.aggregate = a.key AND m.seq = (
               SELECT max(seq) FROM message INDEXED BY message_turn
               WHERE aggregate = a.key AND type IN ({user}, {assistant}))
             WHERE m.seq > a.reverted AND {condition} ORDER BY s.time_created, s.aggregate",
            user = MessageKind::USER,
            assistant = MessageKind::ASSISTANT
        ))?;
        let rows = statement.query_map(values, |row: &Row<'_>| {
            Ok(Newest {
                session: row.get(0)?,
                session_id: row.get(1)?,
                seq: row.get(2)?,
                kind: row.get(3)?,
                settled: row.get(4)?,
                activity: Activity::read(row, 5)?,
                imported: row.get(8)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn state_of(&self, newest: &Newest) -> Result<Option<InterruptedState>, StoreError> {
        let state = self.unfinished(newest)?;
        if state.is_some() && self.was_stopped(newest)? {
            return Ok(None);
        }
        Ok(state)
    }

    /// True if a user or a budget stopped the work on the newest prompt or answer. The log has an event for it if no
    /// output shows it.
    fn was_stopped(&self, newest: &Newest) -> Result<bool, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM event WHERE aggregate = ? AND seq > ? AND type IN (?, ?))",
        )?;
        let stops = (event::Interrupted::NUMBER, event::Paused::NUMBER);
        let values = (newest.session, newest.seq, stops.0, stops.1);
        Ok(statement.query_row(values, |row| row.get(0))?)
    }

    fn unfinished(&self, newest: &Newest) -> Result<Option<InterruptedState>, StoreError> {
        let state = match newest.settled {
            _ if newest.kind == MessageKind::USER => {
                return Ok(Some(InterruptedState::InputUnanswered));
            }
            // A drain never leaves a step open, regardless of the number of its turns.
            None => InterruptedState::StepOpen,
            Some(settled) if self.is_continued(newest, settled)? => {
                InterruptedState::ContinuationDue
            }
            Some(_) => return Ok(None),
        };
        Ok(Some(state))
    }

    /// True if the activity still has to produce a structured output. `None` if it has none to produce.
    fn owes_output(&self, newest: &Newest) -> Result<Option<bool>, StoreError> {
        let Some(activity) = newest.activity else {
            return Ok(None);
        };
        let settings = self.prompt_settings(newest.session, activity.settings)?;
        Ok(settings.output.map(|_| !activity.is_output_settled))
    }

    /// True if the step ended without failure, and paused, owes the structured output of the activity, or had calls of
    /// this host that no user interrupted. Nothing continues after the output.
    fn is_continued(&self, newest: &Newest, ended: Sequence) -> Result<bool, StoreError> {
        let session = newest.session;
        let entry = self.entries(session, &[ended])?.pop();
        let ended_well = match entry.as_ref().map(StoredEvent::payload).transpose()? {
            Some(SessionEvent::StepEnded(_)) => true,
            Some(_) => false,
            None => return Err(StoreError::corrupt(ended, "the entry is missing")),
        };
        if !ended_well {
            return Ok(false);
        }
        let additive = entry.as_ref().map(StoredEvent::additive).transpose()?;
        let owes_output = self.owes_output(newest)?;
        if owes_output == Some(false) {
            return Ok(false);
        }
        let additive = additive.flatten().unwrap_or_default();
        // It waits for the next input.
        if additive.contains_key(TURN_LIMIT) {
            return Ok(false);
        }
        let is_paused = additive.get(PAUSED_TURN) == Some(&Value::Bool(true));
        let mut is_due = owes_output.is_some() || is_paused;
        let mut statement = self.connection.prepare_cached(
            "SELECT called, settled FROM part
             WHERE aggregate = ? AND message = ? AND kind = ? AND called IS NOT NULL",
        )?;
        let calls = statement
            .query_map((session, newest.seq, PartKind::TOOL), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<Result<Vec<(Sequence, Option<Sequence>)>, _>>()?;
        for (called, settled) in calls {
            if self.is_provider_executed(session, called)? {
                continue;
            }
            is_due = true;
            if let Some(settled) = settled.filter(|settled| *settled < ended)
                && self.was_ended(session, settled)?
            {
                return Ok(false);
            }
        }
        Ok(is_due)
    }

    fn is_provider_executed(
        &self,
        session: SessionKey,
        called: Sequence,
    ) -> Result<bool, StoreError> {
        match self.payload_at(session, called)? {
            SessionEvent::ToolCalled(it) => Ok(it.provider.executed),
            _ => Err(StoreError::corrupt(called, "it calls no tool")),
        }
    }

    /// True if an interruption or a declined request ended the call and therefore the activity.
    fn was_ended(&self, session: SessionKey, settled: Sequence) -> Result<bool, StoreError> {
        Ok(match self.payload_at(session, settled)? {
            SessionEvent::ToolFailed(it) => {
                let kind = it.error.cause.map(|ErrorCause { kind, .. }| kind);
                matches!(kind, Some(ErrorKind::Interrupted | ErrorKind::Declined))
            }
            _ => false,
        })
    }

    fn payload_at(&self, session: SessionKey, seq: Sequence) -> Result<SessionEvent, StoreError> {
        let entries = self.gather(session, vec![seq])?;
        entry(&entries, seq)?.payload()
    }

    fn describe(
        &self,
        newest: &Newest,
        state: InterruptedState,
    ) -> Result<Interrupted, StoreError> {
        let entries = self.gather(newest.session, vec![newest.seq])?;
        let entry = entry(&entries, newest.seq)?;
        let message_id = match entry.payload()? {
            SessionEvent::Prompted(it) => it.message_id,
            SessionEvent::StepStarted(it) => it.assistant_message_id,
            _ => return Err(StoreError::corrupt(newest.seq, "it makes another message")),
        };
        let session_id = SessionID::parse(&newest.session_id).map_err(StoreError::corrupt_row)?;
        Ok(Interrupted {
            session_id,
            state,
            message_id,
            seq: newest.seq,
            time: entry.timestamp,
        })
    }

    /// Returns the number of times that the host continued a session without a user since the last
    /// step ended, or since the session was created.
    pub fn retries_since_progress(&self, session: SessionKey) -> Result<u32, StoreError> {
        let retries: Option<u32> = self
            .connection
            .prepare_cached("SELECT retries FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        Ok(retries.unwrap_or(0))
    }
}
