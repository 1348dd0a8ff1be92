//! Replay: entries that were decided elsewhere and come with their place in a log.
//!
//! A log is replayed element by element, in order. What is stored already must be the same and is
//! skipped; what follows it is recorded and projected as if it had been decided here. Whoever owns
//! a log may extend it; everybody else's elements are skipped or, if the owner wants it, refused.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, EventError, SessionEvent, is_streamed};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;
use rusqlite::OptionalExtension;
use serde::Deserialize;

use crate::error::StoreError;
use crate::log::{Recording, StoredEvent};
use crate::packed::Packed;
use crate::projection::LifecycleConflict;
use crate::reader::Reader;
use crate::transaction::Transaction;
use crate::version::Kind;

/// An element of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayEvent {
    /// Its id.
    pub id: EventID,
    /// The session whose log it is.
    pub session_id: SessionID,
    /// Its sequence.
    pub seq: u64,
    /// Name and version of its type: `session.next.prompted.1`.
    pub kind: String,
    /// The whole payload, JSON text: `sessionID`, and `timestamp` unless it is of the older shape.
    pub data: String,
    /// Additive values.
    pub metadata: Option<Record>,
}

/// How a log is replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Who replays. A log that nobody owns becomes theirs.
    pub owner: Option<String>,
    /// Another owner is a conflict, instead of a reason to skip.
    pub strict_owner: bool,
    /// Whether the listener hears of what is applied. Tails always do.
    pub publish: bool,
}

/// What became of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// It was recorded and projected.
    Applied,
    /// It is recorded already, or the log belongs to somebody else.
    Skipped,
}

/// Why an element was refused. It changed nothing; what came before it in the same transaction is
/// for the caller to keep or to take back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayConflict {
    /// Elements of two sessions in one list.
    #[error("the elements belong to several sessions: {first} and, at sequence {seq}, {other}")]
    MixedSessions {
        /// The session of the first element.
        first: SessionID,
        /// Another one.
        other: SessionID,
        /// Sequence of the element that differs.
        seq: u64,
    },
    /// The list leaves a sequence out, or repeats one.
    #[error("the elements are not consecutive: sequence {expected} must come next, not {found}")]
    NotConsecutive {
        /// What must come next.
        expected: u64,
        /// What comes.
        found: u64,
    },
    /// Nobody knows the type.
    #[error("the element {seq} has the unknown type {kind:?}")]
    UnknownType {
        /// Sequence of the element.
        seq: u64,
        /// Its type.
        kind: String,
    },
    /// The payload does not fit the type.
    #[error("the element {seq} cannot be read: {reason}")]
    Payload {
        /// Sequence of the element.
        seq: u64,
        /// What does not fit.
        reason: String,
    },
    /// The payload names another session than the element does.
    #[error("the element {seq} of {session_id} has a payload of {named}")]
    ForeignSession {
        /// Sequence of the element.
        seq: u64,
        /// The session of the element.
        session_id: SessionID,
        /// The session of the payload.
        named: SessionID,
    },
    /// The log belongs to somebody else.
    #[error("the log of {session_id} belongs to {owner:?}")]
    OwnerMismatch {
        /// The session.
        session_id: SessionID,
        /// Who owns it.
        owner: String,
    },
    /// Another entry is stored at this sequence.
    #[error("the log of {session_id} has another entry at sequence {seq}: the two have diverged")]
    Diverged {
        /// The session.
        session_id: SessionID,
        /// The sequence.
        seq: u64,
    },
    /// Entries before the element are missing.
    #[error(
        "the log of {session_id} continues at sequence {expected}, and {found} was given: entries are missing in between"
    )]
    Gap {
        /// The session.
        session_id: SessionID,
        /// The sequence that must come next.
        expected: u64,
        /// The sequence of the element.
        found: u64,
    },
    /// Another entry, of whatever session, has this id.
    #[error("the event id {id} of the element {seq} is in use")]
    EventIdInUse {
        /// Sequence of the element.
        seq: u64,
        /// The id.
        id: EventID,
    },
    /// A log begins with the creation of its session.
    #[error("the session {0} does not exist, and the element does not create it")]
    NoSession(SessionID),
    /// The element contradicts what the entries before it, or other sessions, have made.
    #[error("the element {seq} contradicts what is stored: {conflict}")]
    Lifecycle {
        /// Sequence of the element.
        seq: u64,
        /// The contradiction.
        conflict: LifecycleConflict,
    },
}

/// Sees that a list holds consecutive elements of one session, before they are replayed.
#[derive(Debug, Clone, Default)]
pub struct ReplayOrder {
    expected: Option<(SessionID, u64)>,
}

impl ReplayOrder {
    /// The next element of the list.
    pub fn next(&mut self, event: &ReplayEvent) -> Result<(), ReplayConflict> {
        if let Some((session, expected)) = &self.expected {
            if *session != event.session_id {
                return Err(ReplayConflict::MixedSessions {
                    first: session.clone(),
                    other: event.session_id.clone(),
                    seq: event.seq,
                });
            }
            if *expected != event.seq {
                return Err(ReplayConflict::NotConsecutive {
                    expected: *expected,
                    found: event.seq,
                });
            }
        }
        let following = event.seq.saturating_add(1);
        self.expected = Some((event.session_id.clone(), following));
        Ok(())
    }
}

impl StoredEvent {
    /// The entry as an element that replay takes, its payload complete and in canonical form.
    pub fn element(&self, session_id: &SessionID) -> Result<ReplayEvent, StoreError> {
        let corrupt = |reason: &str| StoreError::corrupt(self.seq as i64, reason);
        let kind = self.kind().ok_or_else(|| corrupt("its type is unknown"))?;
        let metadata = self.metadata.as_deref().map(serde_json::from_str);
        let metadata = metadata
            .transpose()
            .map_err(|error| StoreError::corrupt(self.seq as i64, error))?;
        let session = serde_json::Value::from(session_id.as_str());
        let timestamp = match is_streamed(self.number) {
            true => format!("\"timestamp\":{},", self.timestamp),
            false => String::new(),
        };
        let comma = if self.data == "{}" { "" } else { "," };
        let members = self.data.strip_prefix('{');
        let members = members.ok_or_else(|| corrupt("its payload is no object"))?;
        Ok(ReplayEvent {
            id: self.id.clone(),
            session_id: session_id.clone(),
            seq: self.seq,
            kind,
            data: format!("{{{timestamp}\"sessionID\":{session}{comma}{members}"),
            metadata,
        })
    }
}

/// What an element holds, understood.
struct Element {
    kind: Kind,
    timestamp: Millis,
    payload: SessionEvent,
}

/// The members that payloads begin with.
#[derive(Deserialize)]
struct Head {
    timestamp: Option<Millis>,
    #[serde(rename = "sessionID")]
    session_id: SessionID,
}

impl ReplayEvent {
    fn understand(&self) -> Result<Element, ReplayConflict> {
        let seq = self.seq;
        let unreadable = |reason: String| ReplayConflict::Payload { seq, reason };
        let kind = Kind::parse(&self.kind).map_err(|_| ReplayConflict::UnknownType {
            seq,
            kind: self.kind.clone(),
        })?;
        let head: Head =
            serde_json::from_str(&self.data).map_err(|error| unreadable(error.to_string()))?;
        let payload = SessionEvent::read(kind.number, &self.data)
            .map_err(|error: EventError| unreadable(error.to_string()))?;
        let record = match &payload {
            SessionEvent::SessionCreated(it) => Some(&it.info),
            SessionEvent::SessionUpdated(it) => Some(&it.info),
            SessionEvent::SessionDeleted(it) => Some(&it.info),
            _ => None,
        };
        let named = record.map_or(&head.session_id, |record| &record.id);
        for named in [&head.session_id, named] {
            if *named != self.session_id {
                return Err(ReplayConflict::ForeignSession {
                    seq,
                    session_id: self.session_id.clone(),
                    named: named.clone(),
                });
            }
        }
        let timestamp = match record {
            Some(record) => Some(record.time.updated),
            None => head.timestamp,
        };
        let timestamp = timestamp.ok_or_else(|| unreadable("missing field `timestamp`".into()))?;
        Ok(Element {
            kind,
            timestamp,
            payload,
        })
    }
}

/// What is stored of a log.
struct Position {
    aggregate: i64,
    latest: i64,
    owner: Option<String>,
}

type Outcome = Result<Result<Replayed, ReplayConflict>, StoreError>;

impl Transaction<'_> {
    /// Replays one element of a log. A conflict changes nothing.
    pub fn replay(&mut self, event: &ReplayEvent, options: &ReplayOptions) -> Outcome {
        let element = match event.understand() {
            Ok(element) => element,
            Err(conflict) => return Ok(Err(conflict)),
        };
        let log = self.log_position(&event.session_id)?;
        let (latest, stored_owner) = match &log {
            Some(log) => (log.latest, log.owner.as_deref()),
            None => (-1, None),
        };
        let foreign = stored_owner.filter(|owner| Some(*owner) != options.owner.as_deref());
        if let Some(owner) = foreign.filter(|_| options.strict_owner) {
            return Ok(Err(ReplayConflict::OwnerMismatch {
                session_id: event.session_id.clone(),
                owner: owner.to_owned(),
            }));
        }
        let expected = (latest + 1) as u64;
        if let Some(log) = log.as_ref().filter(|_| event.seq < expected) {
            return self.replay_stored(log, event, &element, options);
        }
        if foreign.is_some() {
            return Ok(Ok(Replayed::Skipped));
        }
        if event.seq > expected {
            return Ok(Err(ReplayConflict::Gap {
                session_id: event.session_id.clone(),
                expected,
                found: event.seq,
            }));
        }
        if self.event_exists(&event.id)? {
            return Ok(Err(ReplayConflict::EventIdInUse {
                seq: event.seq,
                id: event.id.clone(),
            }));
        }
        self.replay_next(event, element, options)
    }

    /// An element that is stored already must be what is stored.
    fn replay_stored(
        &self,
        log: &Position,
        event: &ReplayEvent,
        element: &Element,
        options: &ReplayOptions,
    ) -> Outcome {
        let stored = self.reader().entries(log.aggregate, &[event.seq as i64])?;
        let same = match stored.first() {
            Some(stored) => {
                stored.id == event.id
                    && (stored.number, stored.version)
                        == (element.kind.number, element.kind.version)
                    && (stored.timestamp == element.timestamp || !is_streamed(stored.number))
                    && stored.payload()? == element.payload
            }
            None => false,
        };
        if !same {
            return Ok(Err(ReplayConflict::Diverged {
                session_id: event.session_id.clone(),
                seq: event.seq,
            }));
        }
        self.adopt(log.aggregate, options)?;
        Ok(Ok(Replayed::Skipped))
    }

    /// The element that comes next.
    fn replay_next(
        &mut self,
        event: &ReplayEvent,
        element: Element,
        options: &ReplayOptions,
    ) -> Outcome {
        let session_id = &event.session_id;
        let Some((aggregate, _)) = self.position_for(session_id, &element.payload)? else {
            return Ok(Err(ReplayConflict::NoSession(session_id.clone())));
        };
        if let SessionEvent::SessionCreated(it) = &element.payload {
            let (record, created) = (&it.info, it.info.time.created);
            let directory = project_directory(&record.directory, record.path.as_deref());
            self.add_project(&record.project_id, directory, created)?;
        }
        let recording = Recording {
            kind: element.kind,
            location: match options.publish {
                true => self.location(session_id)?,
                false => None,
            },
            replayed: true,
            announced: options.publish,
        };
        let recorded = DurableEvent {
            id: event.id.clone(),
            session_id: session_id.clone(),
            seq: event.seq,
            timestamp: element.timestamp,
            payload: element.payload,
            metadata: event.metadata.clone(),
        };
        let seq = event.seq;
        if let Err(conflict) = self.record(aggregate, recorded, recording)? {
            return Ok(Err(ReplayConflict::Lifecycle { seq, conflict }));
        }
        self.adopt(aggregate, options)?;
        Ok(Ok(Replayed::Applied))
    }

    /// Where the session lives before the element.
    fn location(&self, id: &SessionID) -> Result<Option<LocationRef>, StoreError> {
        Ok(self.reader().session(id)?.map(|row| row.info.location))
    }

    fn log_position(&self, id: &SessionID) -> Result<Option<Position>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT key, seq, owner FROM aggregate WHERE id = ?")?
            .query_row([id.as_str()], |row| {
                Ok(Position {
                    aggregate: row.get(0)?,
                    latest: row.get(1)?,
                    owner: row.get(2)?,
                })
            })
            .optional()?)
    }

    fn event_exists(&self, id: &EventID) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM event WHERE id = ?")?
            .exists([Packed::event(id)])?)
    }

    /// A log that nobody owns belongs to whoever replays it first.
    fn adopt(&self, aggregate: i64, options: &ReplayOptions) -> Result<(), StoreError> {
        match &options.owner {
            Some(owner) => self.run(
                "UPDATE aggregate SET owner = ?2 WHERE key = ?1 AND owner IS NULL",
                rusqlite::params![aggregate, owner],
            ),
            None => Ok(()),
        }
    }

    /// Makes `owner` the owner of a session's log, whoever owned it before. Returns whether there
    /// is such a session. Who runs a session has nothing to do with it.
    pub fn claim(&self, id: &SessionID, owner: &str) -> Result<bool, StoreError> {
        let changed = self
            .connection
            .prepare_cached("UPDATE aggregate SET owner = ?2 WHERE id = ?1")?
            .execute([id.as_str(), owner])?;
        Ok(changed > 0)
    }

    /// Removes a session: its log and everything that was projected from it. Returns whether there
    /// was one. Nobody is told of this; append `session.deleted` before it, in the same command.
    pub fn remove(&self, id: &SessionID) -> Result<bool, StoreError> {
        let Some((key, _)) = self.position(id)? else {
            return Ok(false);
        };
        self.run(
            "UPDATE removed SET key = max(key, ?) WHERE rowid = 1",
            [key],
        )?;
        // The rest goes with it.
        self.run("DELETE FROM aggregate WHERE key = ?", [key])?;
        Ok(true)
    }
}

impl Reader<'_> {
    /// Who owns a session's log.
    pub fn owner(&self, session: i64) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT owner FROM aggregate WHERE key = ?")?
            .query_row([session], |row| row.get(0))?)
    }
}

/// The directory of a project: that of a session in it, less the session's own path in there.
fn project_directory<'a>(directory: &'a str, path: Option<&str>) -> &'a str {
    let root = path
        .and_then(|path| directory.strip_suffix(path))
        .and_then(|root| root.strip_suffix('/'));
    match root {
        Some("") => "/",
        Some(root) => root,
        None => directory,
    }
}
