//! Appending entries to the log, each with its projections.

use opencode_schema::event::{DurableEvent, LiveEvent, Notice, SessionEvent};
use opencode_schema::id::SessionID;
use opencode_schema::location::LocationRef;
use rusqlite::params;

use crate::error::{Abort, StoreError};
use crate::format::encoding;
use crate::format::entry::{Committed, Draft, Updated};
use crate::format::packed::Packed;
use crate::format::stored::{Format, Stored};
use crate::format::version::Kind;
use crate::integer::{Sequence, SessionKey};
use crate::projections::LifecycleConflict;
use crate::view::reader::Reader;
use crate::view::transaction::Transaction;

/// The properties of an entry to record.
pub(crate) struct Recording {
    /// Name and version of its type.
    pub(crate) kind: Kind,
    /// Location of the session, for the live stream.
    pub(crate) location: Option<LocationRef>,
    /// True if the entry comes from another database, together with its log.
    pub(crate) replayed: bool,
    /// True if the commit listener receives the entry.
    pub(crate) announced: bool,
    /// Live events that follow the entry.
    pub(crate) followed_by: Vec<LiveEvent>,
}

/// True if an event changes the public state of a session other than its sums and times. Sums and
/// times change with every turn, and `session.next.step.ended` reports them.
fn changes_session(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::AgentSwitched(_)
            | SessionEvent::ModelSwitched(_)
            | SessionEvent::Moved(_)
            | SessionEvent::RevertStaged(_)
            | SessionEvent::RevertCleared(_)
            | SessionEvent::RevertCommitted(_)
    )
}

impl Transaction<'_> {
    /// Appends an entry to a session's log and projects it. Returns its sequence, or the conflict.
    /// A conflict changes nothing, so the caller may continue or roll back its earlier changes.
    pub fn append(
        &mut self,
        session: &SessionID,
        location: Option<&LocationRef>,
        mut draft: Draft,
    ) -> Result<Sequence, Abort<LifecycleConflict>> {
        self.cleaner.clean(&mut draft);
        let Some(log) = self.aggregate_for(session, &draft.payload)? else {
            let reason = format!("there is no session {session}");
            return Err(StoreError::Database(reason).into());
        };
        let event = DurableEvent {
            id: self.event_id(),
            session_id: session.clone(),
            seq: log.next.into(),
            timestamp: draft.timestamp,
            payload: draft.payload,
            metadata: draft.metadata,
        };
        let recording = Recording {
            kind: Kind::of(&event.payload),
            location: location.cloned(),
            replayed: false,
            announced: true,
            followed_by: draft.followed_by,
        };
        self.record(log.key, event, recording)
    }

    /// Writes an entry with its projection. Its sequence must be the next one.
    pub(crate) fn record(
        &mut self,
        aggregate: SessionKey,
        event: DurableEvent,
        recording: Recording,
    ) -> Result<Sequence, Abort<LifecycleConflict>> {
        let derives = recording.announced && self.derives();
        let mut derived = self.derive(derives, |reader| reader.removed_by(aggregate, &event));
        let repeated = self.project(aggregate, &event, recording.replayed)?;
        let bytes = self.insert_entry(aggregate, &event, recording.kind, repeated)?;
        let seq = Sequence::from(event.seq);
        let updated = match recording.announced && changes_session(&event.payload) {
            true => self.updated(&event.session_id)?,
            false => None,
        };
        derived.extend(self.derive(derives, |reader| reader.changed_by(aggregate, &event)));
        self.run(
            "UPDATE aggregate SET seq = ?2, bytes = bytes + ?3, active = max(active, ?4)
             WHERE key = ?1",
            params![aggregate, seq, bytes as i64, event.timestamp],
        )?;
        self.appended(Committed {
            event,
            location: recording.location,
            updated,
            followed_by: recording.followed_by,
            derived,
            aggregate,
            announced: recording.announced,
        })?;
        Ok(seq)
    }

    /// Derives announcements if a subscriber wants them. An entry is stored even if nothing can be derived from it,
    /// because other entries of a damaged session cannot be read.
    fn derive(
        &self,
        wanted: bool,
        derive: impl FnOnce(&Reader<'_>) -> Result<Vec<Notice>, StoreError>,
    ) -> Vec<Notice> {
        if !wanted {
            return Vec::new();
        }
        derive(&self.reader()).unwrap_or_else(|error| {
            tracing::error!(%error, "the changes of messages are not announced");
            Vec::new()
        })
    }

    fn updated(&self, session: &SessionID) -> Result<Option<Box<Updated>>, StoreError> {
        let reader = self.reader();
        let Some(row) = reader.session(session)? else {
            return Ok(None);
        };
        let info = reader.whole_session_record(&row)?;
        Ok(Some(Box::new(Updated {
            location: row.info.location,
            info,
        })))
    }

    /// Inserts the row of an entry. An entry that has the payload of the entry `repeated` refers to it. Returns the
    /// number of stored bytes of payload and metadata.
    pub(crate) fn insert_entry(
        &self,
        aggregate: SessionKey,
        event: &DurableEvent,
        kind: Kind,
        repeated: Option<Sequence>,
    ) -> Result<usize, StoreError> {
        let data = match repeated {
            Some(_) => None,
            None => Some(Stored::new(encoding::payload(&event.payload)?)),
        };
        let metadata = event.metadata.as_ref().map(encoding::metadata);
        let metadata = metadata.transpose()?.map(Stored::new);
        let bytes = [&data, &metadata].into_iter().flatten();
        let bytes = bytes.map(Stored::len).sum();
        self.connection
            .prepare_cached(
                "INSERT INTO event (aggregate, seq, id, type, time, format, source, data, metadata)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                aggregate,
                Sequence::from(event.seq),
                Packed::event(&event.id),
                kind.stored(),
                event.timestamp,
                Format::NEW,
                repeated,
                data,
                metadata,
            ])?;
        Ok(bytes)
    }
}
