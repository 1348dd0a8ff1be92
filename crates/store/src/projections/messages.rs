//! Reads projected messages: rows have the sequences of the entries that define a message.

use std::collections::HashMap;

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::{CreatedTime, SessionMessage, SpanTime};
use rusqlite::{OptionalExtension, Params, Row, params};

use crate::error::StoreError;
use crate::format::entry::StoredEvent;
use crate::format::packed::Packed;
use crate::integer::{Sequence, SessionKey};
use crate::projections::USAGE;
use crate::projections::assemble::{self, PartRow};
use crate::projections::kind::MessageKind;
use crate::view::reader::Reader;

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// The position at which a page continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchored<T> {
    /// Element next to the page.
    pub at: T,
    /// True if the page is before the element in the order of the list, false if it is after it.
    pub before: bool,
}

/// A row of `message`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageRow {
    pub(crate) seq: Sequence,
    pub(crate) kind: MessageKind,
    pub(crate) settled: Option<Sequence>,
    pub(crate) completed: Option<Millis>,
    /// Entry with the structured output.
    pub(crate) output: Option<Sequence>,
}

/// Entries by sequence, used to build messages.
pub(crate) type Entries = HashMap<Sequence, StoredEvent>;

const SELECT: &str = "SELECT seq, type, settled, completed, output FROM message";

impl Reader<'_> {
    pub(crate) fn message_exists(&self, id: &MessageID) -> Result<bool, StoreError> {
        Ok(self.message_position(id)?.is_some())
    }

    /// Returns session key and sequence of a message.
    pub(crate) fn message_position(
        &self,
        id: &MessageID,
    ) -> Result<Option<(SessionKey, Sequence)>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT aggregate, seq FROM message WHERE id = ?")?
            .query_row([Packed::message(id)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }

    /// Returns one message of a session.
    pub fn message(
        &self,
        session: SessionKey,
        id: &MessageID,
    ) -> Result<Option<SessionMessage>, StoreError> {
        let Some((owner, seq)) = self.message_position(id)? else {
            return Ok(None);
        };
        if owner != session {
            return Ok(None);
        }
        let rows = self.rows("WHERE aggregate = ?1 AND seq = ?2", (session, seq))?;
        Ok(self
            .assemble(session, &rows)?
            .pop()
            .map(|(_, message)| message))
    }

    /// Returns messages of a session by sequence, at most `limit`, each with its sequence.
    pub fn messages(
        &self,
        session: SessionKey,
        order: Order,
        anchor: Option<&Anchored<Sequence>>,
        limit: usize,
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        self.messages_within(session, order, anchor, limit, usize::MAX)
    }

    /// As [`messages`](Self::messages), but returns fewer if their payloads would exceed `bytes` in
    /// total. Returns at least one message if there is one. Keeps the messages next to the anchor.
    pub fn messages_within(
        &self,
        session: SessionKey,
        order: Order,
        anchor: Option<&Anchored<Sequence>>,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        // A page before the anchor is read backwards from it, then reversed.
        let ascending = match anchor {
            Some(anchor) => (order == Order::Ascending) != anchor.before,
            None => order == Order::Ascending,
        };
        let (comparison, direction) = if ascending {
            (">", "ASC")
        } else {
            ("<", "DESC")
        };
        let start = if ascending {
            Sequence::BEFORE_FIRST
        } else {
            Sequence::AFTER_LAST
        };
        let at = anchor.map_or(start, |anchor| anchor.at);
        let rows = self.rows(
            &format!(
                "WHERE aggregate = ?1 AND seq {comparison} ?2 ORDER BY seq {direction} LIMIT ?3"
            ),
            params![session, at, limit as i64],
        )?;
        let mut messages = self.assemble_within(session, rows, bytes)?;
        if ascending != (order == Order::Ascending) {
            messages.reverse();
        }
        Ok(messages)
    }

    /// Returns the active history: messages from the newest checkpoint on, with the
    /// Mid-Conversation System Messages of the active epoch only.
    pub fn history(
        &self,
        session: SessionKey,
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        let baseline = self.baseline_seq(session)?;
        let checkpoint = self.checkpoint(session)?;
        let checkpoint = checkpoint.unwrap_or(Sequence::BEFORE_FIRST);
        let mut rows = match baseline {
            Some(baseline) => self.rows(
                &format!(
                    "INDEXED BY message_system
                     WHERE aggregate = ?1 AND type = {system} AND seq > ?2 AND seq < ?3
                     ORDER BY seq",
                    system = MessageKind::SYSTEM
                ),
                (session, baseline, checkpoint),
            )?,
            None => Vec::new(),
        };
        let baseline = baseline.unwrap_or(Sequence::BEFORE_FIRST);
        rows.extend(self.rows(
            "WHERE aggregate = ?1 AND seq >= ?2 AND (type <> ?4 OR seq > ?3) ORDER BY seq",
            (session, checkpoint, baseline, MessageKind::SYSTEM),
        )?);
        self.assemble(session, &rows)
    }

    /// Returns the sequence of a session's newest checkpoint, if the session was compacted.
    pub fn checkpoint(&self, session: SessionKey) -> Result<Option<Sequence>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT max(seq) FROM message WHERE aggregate = ? AND type = {checkpoint}",
                checkpoint = MessageKind::COMPACTION
            ))?
            .query_row([session], |row| row.get(0))?)
    }

    /// Returns messages that entries after `after` created or changed, by sequence.
    pub fn changed_since(
        &self,
        session: SessionKey,
        after: Sequence,
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        let rows = self.rows(
            "WHERE aggregate = ?1 AND changed > ?2 ORDER BY seq",
            (session, after),
        )?;
        self.assemble(session, &rows)
    }

    /// Returns rows of messages. `which` is the SQL after the table name.
    pub(crate) fn rows(
        &self,
        which: &str,
        values: impl Params,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let sql = format!("{SELECT} {which}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(values, message_row)?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?)
    }

    fn assemble(
        &self,
        session: SessionKey,
        rows: &[MessageRow],
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        let parts = self.parts(session, rows)?;
        let entries = self.gather(session, sequences(rows, &parts))?;
        self.build(session, rows, parts, &entries)
    }

    /// Builds messages for the first rows with payloads of at most `bytes` in total, but for at
    /// least one row. Halves the number of rows until the payloads fit.
    fn assemble_within(
        &self,
        session: SessionKey,
        mut rows: Vec<MessageRow>,
        bytes: usize,
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        while rows.len() > 1 {
            let parts = self.parts(session, &rows)?;
            let seqs = sequences(&rows, &parts);
            if let Some(entries) = self.entries_within(session, &seqs, bytes)? {
                return self.build(session, &rows, parts, &by_sequence(entries));
            }
            rows.truncate(rows.len() / 2);
        }
        self.assemble(session, &rows)
    }

    pub(crate) fn build(
        &self,
        session: SessionKey,
        rows: &[MessageRow],
        mut parts: HashMap<Sequence, Vec<PartRow>>,
        entries: &Entries,
    ) -> Result<Vec<(Sequence, SessionMessage)>, StoreError> {
        let session_id = self.session_id(session)?;
        rows.iter()
            .map(|row| {
                let parts = parts.remove(&row.seq).unwrap_or_default();
                Ok((row.seq, message(&session_id, row, &parts, entries)?))
            })
            .collect()
    }

    /// Returns the entries at these sequences.
    pub(crate) fn gather(
        &self,
        session: SessionKey,
        mut seqs: Vec<Sequence>,
    ) -> Result<Entries, StoreError> {
        seqs.sort_unstable();
        seqs.dedup();
        Ok(by_sequence(self.entries(session, &seqs)?))
    }

    fn parts(
        &self,
        session: SessionKey,
        rows: &[MessageRow],
    ) -> Result<HashMap<Sequence, Vec<PartRow>>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT kind, name, started, input, called, progress, settled, pruned FROM part
             WHERE aggregate = ? AND message = ? ORDER BY position",
        )?;
        let mut parts = HashMap::new();
        for row in rows.iter().filter(|row| row.kind == MessageKind::ASSISTANT) {
            let of_message = statement
                .query_map((session, row.seq), PartRow::read)?
                .collect::<Result<Vec<_>, _>>()?;
            parts.insert(row.seq, of_message);
        }
        Ok(parts)
    }
}

/// Returns the sequences of the entries that define these messages, ascending and without
/// duplicates.
fn sequences(rows: &[MessageRow], parts: &HashMap<Sequence, Vec<PartRow>>) -> Vec<Sequence> {
    let mut seqs: Vec<Sequence> = Vec::new();
    for row in rows {
        seqs.push(row.seq);
        seqs.extend(row.settled);
        seqs.extend(row.output);
        for part in parts.get(&row.seq).into_iter().flatten() {
            seqs.extend(part.entries());
        }
    }
    seqs.sort_unstable();
    seqs.dedup();
    seqs
}

fn by_sequence(entries: Vec<StoredEvent>) -> Entries {
    let entries = entries.into_iter();
    entries.map(|entry| (entry.seq, entry)).collect()
}

fn message_row(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        seq: row.get(0)?,
        kind: row.get(1)?,
        settled: row.get(2)?,
        completed: row.get(3)?,
        output: row.get(4)?,
    })
}

/// Returns the entry at `seq`. Fails if the entry is missing, because a row refers to it.
pub(crate) fn entry(entries: &Entries, seq: Sequence) -> Result<&StoredEvent, StoreError> {
    entries
        .get(&seq)
        .ok_or_else(|| StoreError::corrupt(seq, "the entry is missing"))
}

/// Returns the value that `pick` extracts from the entry at `seq`, and the time of the entry. Fails
/// if `pick` returns `None`.
pub(crate) fn extract<T>(
    entries: &Entries,
    seq: Option<Sequence>,
    pick: impl FnOnce(SessionEvent) -> Option<T>,
) -> Result<Option<(Millis, T)>, StoreError> {
    let Some(seq) = seq else { return Ok(None) };
    let entry = entry(entries, seq)?;
    let value = pick(entry.payload()?);
    let value = value.ok_or_else(|| StoreError::corrupt(seq, "it tells something else"))?;
    Ok(Some((entry.timestamp, value)))
}

fn message(
    session_id: &SessionID,
    row: &MessageRow,
    parts: &[PartRow],
    entries: &Entries,
) -> Result<SessionMessage, StoreError> {
    let created = entry(entries, row.seq)?;
    let time = CreatedTime {
        created: created.timestamp,
    };
    let span = SpanTime {
        created: created.timestamp,
        completed: row.completed,
    };
    let metadata = created.additive()?;
    let payload = created.payload()?;
    if MessageKind::of(&payload) != Some(row.kind) {
        return Err(StoreError::corrupt(row.seq, "it makes another message"));
    }
    Ok(match payload {
        SessionEvent::Prompted(it) => SessionMessage::User {
            id: it.message_id,
            metadata,
            time,
            text: it.prompt.text,
            files: it.prompt.files,
            agents: it.prompt.agents,
        },
        SessionEvent::StepStarted(it) => SessionMessage::Assistant(Box::new(assemble::assistant(
            it, metadata, span, row, parts, entries,
        )?)),
        SessionEvent::ContextUpdated(it) => SessionMessage::System {
            id: it.message_id,
            time,
            text: it.text,
        },
        SessionEvent::Synthetic(it) => SessionMessage::Synthetic {
            id: it.message_id,
            metadata,
            time,
            session_id: session_id.clone(),
            text: it.text,
            files: it.files,
        },
        SessionEvent::OutputRejected(it) => SessionMessage::Synthetic {
            id: it
                .message_id
                .ok_or_else(|| StoreError::corrupt(row.seq, "it makes no message"))?,
            metadata,
            time,
            session_id: session_id.clone(),
            text: it.text,
            files: None,
        },
        SessionEvent::ShellStarted(it) => {
            let ended = extract(entries, row.settled, |it| match it {
                SessionEvent::ShellEnded(it) => Some(it.output),
                _ => None,
            })?;
            let output = ended.map(|(_, output)| output).unwrap_or_default();
            let (id, call_id, command) = (it.message_id, it.call_id, it.command);
            SessionMessage::Shell {
                id,
                metadata,
                time: span,
                call_id,
                command,
                output,
            }
        }
        SessionEvent::CompactionEnded(it) => SessionMessage::Compaction {
            id: it.message_id,
            metadata: without_usage(metadata),
            time,
            reason: it.reason,
            summary: it.text,
            recent: it.recent,
        },
        SessionEvent::AgentSwitched(it) => SessionMessage::AgentSwitched {
            id: it.message_id,
            metadata,
            time,
            agent: it.agent,
        },
        SessionEvent::ModelSwitched(it) => SessionMessage::ModelSwitched {
            id: it.message_id,
            metadata,
            time,
            model: it.model,
        },
        _ => return Err(StoreError::corrupt(row.seq, "it makes no message")),
    })
}

/// Removes the usage of a summary, which only its event has.
fn without_usage(metadata: Option<Record>) -> Option<Record> {
    let mut metadata = metadata?;
    metadata.shift_remove(USAGE);
    (!metadata.is_empty()).then_some(metadata)
}
