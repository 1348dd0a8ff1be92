//! The log: appending entries with their projections, and reading them back.

use std::borrow::Cow;

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, EventSpec, SessionEvent, SessionRecord};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;
use rusqlite::{OptionalExtension, Row, params};
use serde::de::IgnoredAny;

use crate::codec::{self, Compact};
use crate::error::StoreError;
use crate::packed::{Packed, unpack};
use crate::phrases::{METADATA, PAYLOAD, Phrases};
use crate::projection::{LifecycleConflict, Target};
use crate::reader::Reader;
use crate::transaction::Transaction;
use crate::version::{Kind, spec};

/// Catalogue numbers of the records of the older shape, which the durable stream leaves out.
const OLDER: &str = "1, 2, 3";

/// What is about to happen.
#[derive(Debug, Clone)]
pub struct Draft {
    /// When, epoch milliseconds.
    pub timestamp: Millis,
    /// What.
    pub payload: SessionEvent,
    /// Additive values, stored with the event.
    pub metadata: Option<Record>,
}

impl Draft {
    /// An event without metadata.
    pub fn new(timestamp: Millis, payload: impl Into<SessionEvent>) -> Self {
        Self {
            timestamp,
            payload: payload.into(),
            metadata: None,
        }
    }
}

/// An entry that was committed, with the Location it came from.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The entry.
    pub event: DurableEvent,
    /// Where its session lived; shown on the live stream, not stored.
    pub location: Option<LocationRef>,
    /// The session after it, where it changed agent, model, Location or staged revert.
    pub updated: Option<Box<Updated>>,
    pub(crate) aggregate: i64,
    /// Whether the listener hears of it. Tails always do.
    pub(crate) announced: bool,
}

/// A session after an event that changed it.
#[derive(Debug, Clone)]
pub struct Updated {
    /// Where the session lives now.
    pub location: LocationRef,
    /// The whole record.
    pub info: SessionRecord,
}

/// An entry as it is read: its payload is JSON text in the order of the catalogue, without
/// `timestamp` and `sessionID`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its id.
    pub id: EventID,
    /// Its sequence.
    pub seq: u64,
    /// Its number in the catalogue.
    pub number: u32,
    /// The version of its type it was recorded with; an older one may have the payload of today's.
    pub version: u32,
    /// When.
    pub timestamp: Millis,
    /// The payload.
    pub data: String,
    /// Additive values, JSON text.
    pub metadata: Option<String>,
}

/// How an entry is recorded.
pub(crate) struct Recording {
    /// Name and version of its type.
    pub(crate) kind: Kind,
    /// Where its session lives, for those who are told.
    pub(crate) location: Option<LocationRef>,
    /// It was decided elsewhere, and comes with its log.
    pub(crate) replayed: bool,
    /// Whether the listener hears of it.
    pub(crate) announced: bool,
}

impl StoredEvent {
    /// Its kind.
    pub fn spec(&self) -> Option<&'static EventSpec> {
        spec(self.number)
    }

    /// Name and version of its type, as it was recorded: `session.next.step.ended.2`.
    pub fn kind(&self) -> Option<String> {
        let name = format!("{}.{}", self.spec()?.name, self.version);
        Kind::parse(&name).is_ok().then_some(name)
    }

    /// The payload as a value.
    pub fn payload(&self) -> Result<SessionEvent, StoreError> {
        SessionEvent::read(self.number, &self.data)
            .map_err(|error| StoreError::event(self.seq as i64, &error))
    }
}

/// Whether an event changes what a session reads as, beyond its sums and times. Those change with
/// every turn, and `session.next.step.ended` carries them.
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
    /// A conflict changes nothing, so the caller may go on or take back what it did before.
    pub fn append(
        &mut self,
        session: &SessionID,
        location: Option<&LocationRef>,
        draft: Draft,
    ) -> Result<Result<u64, LifecycleConflict>, StoreError> {
        let Some(log) = self.aggregate_for(session, &draft.payload)? else {
            return Err(StoreError::Database(format!(
                "there is no session {session}"
            )));
        };
        let event = DurableEvent {
            id: self.event_id(),
            session_id: session.clone(),
            seq: log.next(),
            timestamp: draft.timestamp,
            payload: draft.payload,
            metadata: draft.metadata,
        };
        let recording = Recording {
            kind: Kind::of(&event.payload),
            location: location.cloned(),
            replayed: false,
            announced: true,
        };
        self.record(log.key, event, recording)
    }

    /// Writes an entry, whose sequence is the next one, with its projection.
    pub(crate) fn record(
        &mut self,
        aggregate: i64,
        event: DurableEvent,
        recording: Recording,
    ) -> Result<Result<u64, LifecycleConflict>, StoreError> {
        let target = match self.project(aggregate, &event, recording.replayed)? {
            Ok(target) => target,
            Err(conflict) => return Ok(Err(conflict)),
        };
        self.insert_entry(aggregate, &event, recording.kind, &target)?;
        let seq = event.seq;
        let updated = match recording.announced && changes_session(&event.payload) {
            true => self.updated(&event.session_id)?,
            false => None,
        };
        self.run(
            "UPDATE aggregate SET seq = ?2 WHERE key = ?1",
            [aggregate, seq as i64],
        )?;
        self.appended(Committed {
            event,
            location: recording.location,
            updated,
            aggregate,
            announced: recording.announced,
        })?;
        Ok(Ok(seq))
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

    fn insert_entry(
        &self,
        aggregate: i64,
        event: &DurableEvent,
        kind: Kind,
        target: &Target,
    ) -> Result<(), StoreError> {
        let Compact { data, source } = match target.source {
            Some(seq) if target.repeats => codec::same_as(seq),
            _ => self.compact(aggregate, event, target)?,
        };
        let data = data.as_deref().map(|data| PAYLOAD.shorten(data));
        let metadata = event.metadata.as_ref();
        let metadata = metadata.map(codec::write_metadata).transpose()?;
        let metadata = metadata.as_deref().map(|text| METADATA.shorten(text));
        self.connection
            .prepare_cached(
                "INSERT INTO event (aggregate, seq, id, type, time, message, source, data, metadata)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                aggregate,
                event.seq as i64,
                Packed::event(&event.id),
                kind.stored(),
                event.timestamp,
                target.message,
                source,
                data,
                metadata,
            ])?;
        Ok(())
    }

    fn compact(
        &self,
        aggregate: i64,
        event: &DurableEvent,
        target: &Target,
    ) -> Result<Compact, StoreError> {
        let data = codec::write(&event.payload)?;
        let shared = match (&event.payload, target.source) {
            (SessionEvent::ToolCalled(call), Some(seq)) => self
                .reader()
                .entry_data(aggregate, seq)?
                .and_then(|ended| codec::argument_text(&ended))
                .and_then(|text| codec::call_like(call, &data, &text, seq)),
            _ => None,
        };
        let Compact { data, source } = shared.unwrap_or_else(|| Compact {
            data: Some(match &event.payload {
                SessionEvent::ToolSuccess(_) => codec::without_repeated_file(data),
                _ => data,
            }),
            source: None,
        });
        let data = match target.message {
            Some(_) => data.map(|data| codec::without_owner(&data).to_owned()),
            None => data,
        };
        Ok(Compact { data, source })
    }
}

/// Reads entries together with what they leave out.
const SELECT: &str = "SELECT e.seq, e.id, e.type, e.time, e.data, e.metadata, s.data, c.data
    FROM event e
    LEFT JOIN event s ON s.aggregate = e.aggregate AND s.seq = e.source
    LEFT JOIN event c ON c.aggregate = e.aggregate AND c.seq = e.message
    WHERE e.aggregate = ?1";

impl Reader<'_> {
    /// Stored text of one entry, which for the entries that others refer to is the whole payload.
    fn entry_data(&self, aggregate: i64, seq: i64) -> Result<Option<String>, StoreError> {
        let data: Option<String> = self
            .connection
            .prepare_cached("SELECT data FROM event WHERE aggregate = ? AND seq = ?")?
            .query_row([aggregate, seq], |row| row.get(0))
            .optional()?
            .flatten();
        Ok(data.map(|data| PAYLOAD.lengthen(&data).into_owned()))
    }

    /// Entries of the durable stream after `after`, ascending, at most `limit`.
    pub fn events(
        &self,
        session: i64,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        self.events_within(session, after, limit, usize::MAX)
    }

    /// The same, and no further than payloads of `bytes` in all, but at least one entry.
    pub fn events_within(
        &self,
        session: i64,
        after: Option<u64>,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let sql =
            format!("{SELECT} AND e.seq > ?2 AND e.type NOT IN ({OLDER}) ORDER BY e.seq LIMIT ?3");
        let after = after.map_or(-1, |seq| i64::try_from(seq).unwrap_or(i64::MAX));
        self.page(&sql, [session, after, limit as i64], bytes)
    }

    /// Every entry from sequence `from` on, those of the older shape included, ascending: at most
    /// `limit`, and no further than payloads of `bytes` in all, but at least one entry.
    pub fn log(
        &self,
        session: i64,
        from: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = format!("{SELECT} AND e.seq >= ?2 ORDER BY e.seq LIMIT ?3");
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        self.page(&sql, [session, from, limit as i64], bytes)
    }

    fn page(
        &self,
        sql: &str,
        values: [i64; 3],
        bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut events = Vec::new();
        let mut read = 0;
        while let Some(row) = rows.next()? {
            let event = stored(row)?;
            check(&event)?;
            read += event.data.len();
            events.push(event);
            if read >= bytes {
                break;
            }
        }
        Ok(events)
    }

    /// The entries at these sequences, which ascend.
    pub(crate) fn entries(
        &self,
        session: i64,
        seqs: &[i64],
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut found = Vec::with_capacity(seqs.len());
        self.each_entry(session, seqs, |entry| {
            found.push(entry);
            true
        })?;
        Ok(found)
    }

    /// The same, unless their payloads have more than `bytes` in all.
    pub(crate) fn entries_within(
        &self,
        session: i64,
        seqs: &[i64],
        bytes: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        let mut found = Vec::with_capacity(seqs.len());
        let mut read = 0;
        self.each_entry(session, seqs, |entry| {
            read += entry.data.len();
            found.push(entry);
            read <= bytes
        })?;
        Ok((read <= bytes).then_some(found))
    }

    /// Reads entries until one is not wanted. One scan when they lie close together.
    fn each_entry(
        &self,
        session: i64,
        seqs: &[i64],
        mut wanted: impl FnMut(StoredEvent) -> bool,
    ) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else {
            return Ok(());
        };
        if last.saturating_sub(*first) < 4 * seqs.len() as i64 + 16 {
            let sql = format!("{SELECT} AND e.seq BETWEEN ?2 AND ?3 ORDER BY e.seq");
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query([session, *first, *last])?;
            while let Some(row) = rows.next()? {
                if seqs.binary_search(&row.get(0)?).is_ok() && !wanted(stored(row)?) {
                    break;
                }
            }
        } else {
            let mut statement = self
                .connection
                .prepare_cached(&format!("{SELECT} AND e.seq = ?2"))?;
            for seq in seqs {
                let mut rows = statement.query([session, *seq])?;
                if let Some(row) = rows.next()?
                    && !wanted(stored(row)?)
                {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn stored(row: &Row<'_>) -> Result<StoredEvent, StoreError> {
    let seq: i64 = row.get(0)?;
    read(row, seq).map_err(|error| error.of_entry(seq))
}

/// Callers pass payload and metadata on as text, so nothing else would notice damage there.
fn check(event: &StoredEvent) -> Result<(), StoreError> {
    let seq = event.seq as i64;
    if event.kind().is_none() {
        return Err(StoreError::corrupt(seq, "its type is unknown"));
    }
    for text in std::iter::once(&event.data).chain(&event.metadata) {
        serde_json::from_str::<IgnoredAny>(text)
            .map_err(|error| StoreError::corrupt(seq, error))?;
    }
    Ok(())
}

fn read(row: &Row<'_>, seq: i64) -> Result<StoredEvent, StoreError> {
    let id = unpack("evt_", row.get_ref(1)?).map_err(|error| StoreError::corrupt(seq, error))?;
    let text = |column, phrases: Phrases| -> Result<Option<Cow<'_, str>>, StoreError> {
        let text = row.get_ref(column)?.as_str_or_null();
        let text = text.map_err(|error| StoreError::corrupt(seq, error))?;
        Ok(text.map(|text| phrases.lengthen(text)))
    };
    let (source, creator) = (text(6, PAYLOAD)?, text(7, PAYLOAD)?);
    let data = text(4, PAYLOAD)?.map(Cow::into_owned);
    let data = codec::restore(data, source.as_deref(), creator.as_deref())
        .ok_or_else(|| StoreError::corrupt(seq, "a value it refers to is missing"))?;
    let kind = Kind::read(row.get(2)?);
    Ok(StoredEvent {
        id: EventID::parse(&id).map_err(|error| StoreError::corrupt(seq, error))?,
        seq: seq as u64,
        number: kind.number,
        version: kind.version,
        timestamp: row.get(3)?,
        data,
        metadata: text(5, METADATA)?.map(Cow::into_owned),
    })
}
