//! Tool calls that never settled because of an interruption or a crash.

use opencode_schema::Record;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::MessageID;
use opencode_schema::model::ModelRef;

use crate::error::StoreError;
use crate::integer::{Sequence, SessionKey};
use crate::projections::kind::{MessageKind, PartKind};
use crate::projections::messages::{entry, extract};
use crate::view::reader::Reader;

/// A tool call that never settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// Id of the message that contains the call.
    pub message_id: MessageID,
    /// The entry that began the message.
    pub seq: Sequence,
    /// The agent of the message.
    pub agent: String,
    /// The model of the message.
    pub model: ModelRef,
    /// The provider's call ID.
    pub call_id: String,
    /// True if the provider ran the call.
    pub provider_executed: bool,
    /// The called tool and its arguments. `None` if the arguments are not complete.
    pub called: Option<(String, Record)>,
}

impl Reader<'_> {
    /// Returns the answer that neither ended nor failed, if there is one.
    pub fn open_step(&self, session: SessionKey) -> Result<Option<MessageID>, StoreError> {
        let Some(seq) = self.open_messages(session, MessageKind::ASSISTANT)?.pop() else {
            return Ok(None);
        };
        match self.entry_payload(session, seq)? {
            SessionEvent::StepStarted(it) => Ok(Some(it.assistant_message_id)),
            _ => Err(StoreError::corrupt(seq, "it does not start a step")),
        }
    }

    /// Returns the runs of shell commands that have not ended.
    pub fn open_shells(&self, session: SessionKey) -> Result<Vec<String>, StoreError> {
        let open = self.open_messages(session, MessageKind::SHELL)?.into_iter();
        open.map(|seq| match self.entry_payload(session, seq)? {
            SessionEvent::ShellStarted(it) => Ok(it.call_id),
            _ => Err(StoreError::corrupt(seq, "it does not start a command")),
        })
        .collect()
    }

    /// Returns the messages of a kind that have not ended, in order.
    fn open_messages(
        &self,
        session: SessionKey,
        kind: MessageKind,
    ) -> Result<Vec<Sequence>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq FROM message WHERE aggregate = ? AND type = ? AND completed IS NULL ORDER BY seq",
        )?;
        let rows = statement.query_map((session, kind), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn entry_payload(
        &self,
        session: SessionKey,
        seq: Sequence,
    ) -> Result<SessionEvent, StoreError> {
        let entries = self.gather(session, vec![seq])?;
        entry(&entries, seq)?.payload()
    }

    /// Returns the tool calls that never settled. If calls of one message share an id, events reach
    /// only the last of them, so the others are omitted.
    pub fn open_calls(&self, session: SessionKey) -> Result<Vec<OpenCall>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT message, name, called FROM part open INDEXED BY part_open
             WHERE aggregate = ? AND kind = {tool} AND settled IS NULL AND NOT EXISTS (
               SELECT 1 FROM part later
               WHERE later.aggregate = open.aggregate AND later.message = open.message
                 AND later.position > open.position AND later.kind = open.kind
                 AND later.name = open.name)
             ORDER BY message, position",
            tool = PartKind::TOOL
        ))?;
        let rows = statement
            .query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<Vec<_>, _>>()?;
        rows.into_iter()
            .map(|(message, call_id, called)| self.open_call(session, message, call_id, called))
            .collect()
    }

    fn open_call(
        &self,
        session: SessionKey,
        message: Sequence,
        call_id: String,
        called: Option<Sequence>,
    ) -> Result<OpenCall, StoreError> {
        let seqs = [Some(message), called].into_iter().flatten();
        let entries = self.gather(session, seqs.collect())?;
        let SessionEvent::StepStarted(started) = entry(&entries, message)?.payload()? else {
            return Err(StoreError::corrupt(message, "it does not start a step"));
        };
        let called = extract(&entries, called, |it| match it {
            SessionEvent::ToolCalled(it) => Some(it),
            _ => None,
        })?;
        let called = called.map(|(_, called)| called);
        Ok(OpenCall {
            message_id: started.assistant_message_id,
            seq: message,
            agent: started.agent,
            model: started.model,
            call_id,
            provider_executed: called.as_ref().is_some_and(|it| it.provider.executed),
            called: called.map(|it| (it.tool, it.input)),
        })
    }
}
