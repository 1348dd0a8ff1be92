//! Copies of sessions. A copy is written in several commands, hidden from every read, and published as a whole. A crash
//! before that leaves rows that the next host deletes like those of a removed session.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, SessionCreated, SessionRecord};
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::session::SessionChoice;
use rusqlite::{OptionalExtension, params};

use crate::error::{Abort, StoreError};
use crate::format::entry::{Committed, Draft};
use crate::format::packed::unpack;
use crate::format::version::Kind;
use crate::integer::{Sequence, SessionKey};
use crate::projections::LifecycleConflict;
use crate::projections::epoch::Epoch;
use crate::projections::imported::{BUDGET, Range, bits};
use crate::projections::kind::MessageKind;
use crate::projections::removal::COPIED;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;
use crate::writer::append::Recording;

/// The messages of a session before a boundary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessagesBefore {
    /// Their ids, in order.
    pub ids: Vec<MessageID>,
    /// Sequence of the first message that is left out. `None` if these are all messages.
    pub first_left_out: Option<Sequence>,
    /// True if a Mid-Conversation System Message is left out. The Context Snapshot of the session is ahead of the
    /// messages then.
    pub leaves_out_context: bool,
}

/// The state of a published copy beside its log.
#[derive(Debug, Clone, Default)]
pub struct CopiedState {
    /// The Context Epoch.
    pub epoch: Option<Epoch>,
    /// Directories in which tools read files.
    pub explored: Vec<String>,
    /// The copied entries that came with an import.
    pub imported: Vec<Range>,
    /// The choices of an import that no caller has confirmed.
    pub unconfirmed: Vec<SessionChoice>,
    /// True if the budget came with an import.
    pub has_imported_budget: bool,
}

impl Reader<'_> {
    /// Returns the messages before `end`, or all messages. If a prompt is at `end`, leaves out the attached texts
    /// directly before it, which belong to it.
    pub fn messages_before(
        &self,
        session: SessionKey,
        end: Option<Sequence>,
    ) -> Result<MessagesBefore, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT seq, id, type FROM message WHERE aggregate = ? ORDER BY seq")?;
        let mut rows = statement.query([session])?;
        let mut found = MessagesBefore::default();
        // The attached texts since the last other message.
        let mut attached = Vec::new();
        while let Some(row) = rows.next()? {
            let (seq, kind): (Sequence, MessageKind) = (row.get(0)?, row.get(2)?);
            if end.is_some_and(|end| seq >= end) {
                found.leaves_out_context |= kind == MessageKind::SYSTEM;
                if found.first_left_out.is_none() {
                    let mut first = seq;
                    if kind == MessageKind::USER {
                        first = attached.first().copied().unwrap_or(seq);
                        found.ids.truncate(found.ids.len() - attached.len());
                    }
                    found.first_left_out = Some(first);
                }
                continue;
            }
            let id = unpack("msg_", row.get_ref(1)?);
            let id = id.map_err(StoreError::corrupt_row)?;
            found
                .ids
                .push(MessageID::parse(&id).map_err(StoreError::corrupt_row)?);
            match kind {
                MessageKind::SYNTHETIC => attached.push(seq),
                _ => attached.clear(),
            }
        }
        Ok(found)
    }

    /// Returns the entry that begins the last part of this name in a message.
    pub fn part_start(
        &self,
        session: SessionKey,
        message: Sequence,
        name: &str,
    ) -> Result<Option<Sequence>, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT started FROM part WHERE aggregate = ?1 AND message = ?2 AND name = ?3
                 ORDER BY position DESC LIMIT 1",
            )?
            .query_row(params![session, message, name], |row| row.get(0))
            .optional()?)
    }
}

impl Transaction<'_> {
    /// Begins a hidden log. Its first entry, the creation of the session, follows with its publication.
    pub fn begin_copy(&self) -> Result<SessionKey, StoreError> {
        // No id of a session contains a slash. Sequence 0 is that of the first entry.
        let key = self.add_log("copy/", Some(Sequence::FIRST))?;
        self.run(
            "UPDATE aggregate SET id = 'copy/' || key WHERE key = ?",
            [key],
        )?;
        self.run(
            "INSERT INTO hidden (aggregate, is_copy) VALUES (?, 1)",
            [key],
        )?;
        Ok(key)
    }

    /// Appends entries to a hidden log and projects them. No listener receives them.
    pub fn append_copied(
        &mut self,
        copy: SessionKey,
        id: &SessionID,
        drafts: Vec<Draft>,
    ) -> Result<(), Abort<LifecycleConflict>> {
        let mut next = self.reader().latest_seq(copy)?.next();
        for draft in drafts {
            let event = DurableEvent {
                id: self.event_id(),
                session_id: id.clone(),
                seq: next.into(),
                timestamp: draft.timestamp,
                payload: draft.payload,
                metadata: draft.metadata,
            };
            let recording = Recording {
                kind: Kind::of(&event.payload),
                location: None,
                // The log of the original is complete, like that of a replay.
                replayed: true,
                announced: false,
                followed_by: Vec::new(),
            };
            next = self.record(copy, event, recording)?.next();
        }
        Ok(())
    }

    /// Makes a hidden log the log of a new session, and announces its creation.
    pub fn publish_copy(
        &mut self,
        copy: SessionKey,
        info: SessionRecord,
        now: Millis,
        state: &CopiedState,
    ) -> Result<(), Abort<LifecycleConflict>> {
        let (id, location) = (info.id.clone(), location_of(&info));
        let event = DurableEvent {
            id: self.event_id(),
            session_id: id.clone(),
            seq: Sequence::FIRST.into(),
            timestamp: now,
            payload: SessionCreated { info }.into(),
            metadata: Some(copied(None)),
        };
        let kind = Kind::of(&event.payload);
        let bytes = self.insert_entry(copy, &event, kind, None)?;
        self.project(copy, &event, false)?;
        self.run(
            "UPDATE aggregate SET id = ?2, bytes = bytes + ?3, active = max(active, ?4)
             WHERE key = ?1",
            params![copy, id.as_str(), bytes as i64, now],
        )?;
        self.run("DELETE FROM hidden WHERE aggregate = ?", [copy])?;
        if let Some(epoch) = &state.epoch {
            self.set_epoch(copy, epoch)?;
        }
        for directory in &state.explored {
            self.add_explored(copy, directory)?;
        }
        for range in &state.imported {
            self.add_imported(copy, *range)?;
        }
        let budget = if state.has_imported_budget { BUDGET } else { 0 };
        self.set_unconfirmed(copy, bits(state.unconfirmed.iter().copied()) | budget)?;
        self.appended(Committed {
            event,
            location: Some(location),
            updated: None,
            followed_by: Vec::new(),
            derived: Vec::new(),
            aggregate: copy,
            announced: true,
        })?;
        Ok(())
    }

    /// Gives a copy up. [`purge`](Self::purge) deletes its rows.
    pub fn give_up_copy(&self, copy: SessionKey) -> Result<(), StoreError> {
        self.run(
            "UPDATE removed SET key = max(key, ?), residue = 1 WHERE rowid = 1",
            [copy],
        )?;
        self.run("UPDATE hidden SET is_copy = 0 WHERE aggregate = ?", [copy])
    }
}

/// Returns the metadata of an entry that is a copy.
pub fn copied(metadata: Option<Record>) -> Record {
    let mut metadata = metadata.unwrap_or_default();
    metadata.insert(COPIED.to_owned(), true.into());
    metadata
}

fn location_of(info: &SessionRecord) -> LocationRef {
    LocationRef {
        directory: info.directory.clone(),
        workspace_id: info.workspace_id.clone(),
    }
}
