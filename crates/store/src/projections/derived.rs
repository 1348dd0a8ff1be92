//! Announcements derived from an entry: the messages and parts that it changed.
//!
//! They depend on the entry and on the rows of its session alone, so a fold over the log of a session gives the same
//! announcements again. Each reads one message or one part, never the history. A committed revert reads the ids of
//! the messages that it removes.

use std::collections::HashMap;

use opencode_schema::event::{
    DurableEvent, MessagePartRemoved, MessagePartUpdated, MessagePath, MessageRemoved,
    MessageUpdated, Notice, RevertCommitted, SessionCompacted, SessionEvent,
};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::{SessionMessage, SpanTime};
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::format::packed::unpack;
use crate::integer::{Sequence, SessionKey};
use crate::projections::assemble::PartRow;
use crate::projections::kind::PartKind;
use crate::projections::messages::MessageRow;
use crate::projections::parts::{LAST, owner};
use crate::view::reader::Reader;

/// A part of an assistant message as an event names it.
struct NamedPart<'a> {
    message: &'a MessageID,
    kind: PartKind,
    name: &'a str,
}

impl Reader<'_> {
    /// Returns the announcements of what the entry is about to remove. Call it before its projection.
    pub fn removed_by(
        &self,
        session: SessionKey,
        event: &DurableEvent,
    ) -> Result<Vec<Notice>, StoreError> {
        let SessionEvent::RevertCommitted(revert) = &event.payload else {
            return Ok(Vec::new());
        };
        let Some(boundary) = self.message_seq(session, &revert.message_id)? else {
            return Ok(Vec::new());
        };
        let mut removed = self.removed_parts(session, &event.session_id, boundary, revert)?;
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, id FROM message WHERE aggregate = ? AND seq > ? ORDER BY seq",
        )?;
        let mut rows = statement.query((session, boundary))?;
        while let Some(row) = rows.next()? {
            let seq: Sequence = row.get(0)?;
            let id = unpack("msg_", row.get_ref(1)?);
            let id = id.map_err(|error| StoreError::corrupt(seq, error))?;
            let message_id =
                MessageID::parse(&id).map_err(|error| StoreError::corrupt(seq, error))?;
            removed.push(Notice::MessageRemoved(MessageRemoved {
                session_id: event.session_id.clone(),
                message_id,
            }));
        }
        Ok(removed)
    }

    fn removed_parts(
        &self,
        session: SessionKey,
        session_id: &SessionID,
        boundary: Sequence,
        revert: &RevertCommitted,
    ) -> Result<Vec<Notice>, StoreError> {
        let staged = self.staged(session)?;
        let staged = staged.filter(|staged| staged.message_id == revert.message_id);
        let Some(part) = staged.and_then(|staged| staged.part_id) else {
            return Ok(Vec::new());
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT position, name FROM part WHERE aggregate = ?1 AND message = ?2 AND position >= (
               SELECT max(position) FROM part WHERE aggregate = ?1 AND message = ?2 AND name = ?3)
             ORDER BY position DESC",
        )?;
        let parts = statement.query_map(params![session, boundary, part], |row| {
            Ok(Notice::MessagePartRemoved(MessagePartRemoved {
                session_id: session_id.clone(),
                message_id: revert.message_id.clone(),
                part_id: row.get(1)?,
                index: row.get(0)?,
            }))
        })?;
        Ok(parts.collect::<Result<_, _>>()?)
    }

    /// Returns the announcements of what the entry added or changed. Call it after its projection and before the next
    /// entry of the session.
    pub fn changed_by(
        &self,
        session: SessionKey,
        event: &DurableEvent,
    ) -> Result<Vec<Notice>, StoreError> {
        match &event.payload {
            // The messages that a committed revert changes lose parts and nothing else.
            SessionEvent::RevertCommitted(_) | SessionEvent::SessionDeleted(_) => Ok(Vec::new()),
            SessionEvent::Pruned(pruned) => {
                let calls = pruned.calls.iter().map(|call| NamedPart {
                    message: &call.assistant_message_id,
                    kind: PartKind::TOOL,
                    name: &call.call_id,
                });
                let parts = calls.map(|part| self.part_notice(session, event, &part));
                parts.filter_map(Result::transpose).collect()
            }
            payload => match part(payload) {
                Some(part) => Ok(Vec::from_iter(self.part_notice(session, event, &part)?)),
                None => self.message_notices(session, event),
            },
        }
    }

    fn message_notices(
        &self,
        session: SessionKey,
        event: &DurableEvent,
    ) -> Result<Vec<Notice>, StoreError> {
        let changed = Sequence::from(event.seq);
        let rows = self.rows(
            "INDEXED BY message_changed WHERE aggregate = ?1 AND changed = ?2 ORDER BY seq",
            (session, changed),
        )?;
        let seqs = rows
            .iter()
            .flat_map(|row: &MessageRow| [Some(row.seq), row.settled, row.output]);
        let entries = self.gather(session, seqs.flatten().collect())?;
        let messages = self.build(session, &rows, HashMap::new(), &entries)?;
        let mut notices = Vec::new();
        for (_, info) in messages {
            let (mode, path, summary) = match &info {
                SessionMessage::Assistant(it) => {
                    (Some(it.agent.clone()), self.path(&event.session_id)?, None)
                }
                SessionMessage::Compaction { .. } => {
                    (Some(COMPACTION.to_owned()), None, Some(true))
                }
                _ => (None, None, None),
            };
            notices.push(Notice::MessageUpdated(MessageUpdated {
                session_id: event.session_id.clone(),
                info,
                mode,
                path,
                summary,
            }));
        }
        if let SessionEvent::CompactionEnded(_) = event.payload {
            let session_id = event.session_id.clone();
            notices.push(Notice::SessionCompacted(SessionCompacted { session_id }));
        }
        Ok(notices)
    }

    /// Returns start and end of a text.
    fn text_time(
        &self,
        session: SessionKey,
        row: &PartRow,
    ) -> Result<Option<SpanTime>, StoreError> {
        let Some((started, ended)) = row.text_span() else {
            return Ok(None);
        };
        let time_of = |seq: Sequence| {
            self.connection
                .prepare_cached("SELECT time FROM event WHERE aggregate = ? AND seq = ?")?
                .query_row((session, seq), |row| row.get(0))
        };
        Ok(Some(SpanTime {
            created: time_of(started)?,
            completed: ended.map(time_of).transpose()?,
        }))
    }

    fn path(&self, session: &SessionID) -> Result<Option<MessagePath>, StoreError> {
        let Some(session) = self.session(session)? else {
            return Ok(None);
        };
        let cwd = session.info.location.directory;
        let below = session.info.subpath.unwrap_or_default();
        let root = cwd.strip_suffix(below.as_str()).unwrap_or(&cwd);
        let root = match root.trim_end_matches(['/', '\\']) {
            "" => "/",
            root => root,
        };
        let root = root.to_owned();
        Ok(Some(MessagePath { cwd, root }))
    }

    /// Returns the announcement of a part, if the entry changed it.
    fn part_notice(
        &self,
        session: SessionKey,
        event: &DurableEvent,
        part: &NamedPart<'_>,
    ) -> Result<Option<Notice>, StoreError> {
        let Some(message) = self.message_seq(session, part.message)? else {
            return Ok(None);
        };
        let row = self
            .connection
            .prepare_cached(&format!(
                "SELECT kind, name, started, input, called, progress, settled, pruned, position
                 FROM part WHERE aggregate = ?1 AND message = ?2 AND position = ({LAST})"
            ))?
            .query_row(params![session, message, part.kind, part.name], |row| {
                Ok((PartRow::read(row)?, row.get(8)?))
            })
            .optional()?;
        let Some((row, index)) = row else {
            return Ok(None);
        };
        let is_pruned = matches!(event.payload, SessionEvent::Pruned(_));
        if !is_pruned && !row.is_defined_by(event.seq.into()) {
            return Ok(None);
        }
        let entries = self.gather(session, row.entries().collect())?;
        let updated = MessagePartUpdated {
            session_id: event.session_id.clone(),
            message_id: part.message.clone(),
            index,
            part: row.read_part(&entries)?,
            time: event.timestamp,
            delta: None,
            part_time: self.text_time(session, &row)?,
            title: None,
            ignored: None,
        };
        Ok(Some(Notice::MessagePartUpdated(updated.described())))
    }
}

/// The `mode` of a summary.
const COMPACTION: &str = "compaction";

/// Returns the part that an event of an assistant message names.
fn part(payload: &SessionEvent) -> Option<NamedPart<'_>> {
    let (kind, name) = match payload {
        SessionEvent::TextStarted(it) => (PartKind::TEXT, &it.text_id),
        SessionEvent::TextEnded(it) => (PartKind::TEXT, &it.text_id),
        SessionEvent::ReasoningStarted(it) => (PartKind::REASONING, &it.reasoning_id),
        SessionEvent::ReasoningEnded(it) => (PartKind::REASONING, &it.reasoning_id),
        SessionEvent::ToolInputStarted(it) => (PartKind::TOOL, &it.call_id),
        SessionEvent::ToolInputEnded(it) => (PartKind::TOOL, &it.call_id),
        SessionEvent::ToolCalled(it) => (PartKind::TOOL, &it.call_id),
        SessionEvent::ToolProgress(it) => (PartKind::TOOL, &it.call_id),
        SessionEvent::ToolSuccess(it) => (PartKind::TOOL, &it.call_id),
        SessionEvent::ToolFailed(it) => (PartKind::TOOL, &it.call_id),
        _ => return None,
    };
    Some(NamedPart {
        message: owner(payload)?,
        kind,
        name,
    })
}
