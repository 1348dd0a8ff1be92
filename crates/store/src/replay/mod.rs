//! Replay: entries that were decided elsewhere and come with their place in a log.
//!
//! A log is replayed element by element, in order. What is stored already must be the same and is
//! skipped; what follows it is recorded and projected as if it had been decided here. Whoever owns
//! a log may extend it; everybody else's elements are skipped or, if the owner wants it, refused.

pub(crate) mod element;

use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, SessionCreated, SessionEvent};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;

use crate::error::StoreError;
use crate::format::packed::Packed;
use crate::log::aggregate::Aggregate;
use crate::projections::LifecycleConflict;
use crate::replay::element::{Element, ReplayEvent};
use crate::view::transaction::Transaction;
use crate::writer::append::Recording;

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

type Outcome = Result<Result<Replayed, ReplayConflict>, StoreError>;

impl Transaction<'_> {
    /// Replays one element of a log. A conflict changes nothing.
    pub fn replay(&mut self, event: &ReplayEvent, options: &ReplayOptions) -> Outcome {
        let element = match event.understand() {
            Ok(element) => element,
            Err(conflict) => return Ok(Err(conflict)),
        };
        let log = self.reader().aggregate(&event.session_id)?;
        let owner = log.as_ref().and_then(|log| log.owner.as_deref());
        let foreign = owner.filter(|owner| Some(*owner) != options.owner.as_deref());
        if let Some(owner) = foreign.filter(|_| options.strict_owner) {
            return Ok(Err(ReplayConflict::OwnerMismatch {
                session_id: event.session_id.clone(),
                owner: owner.to_owned(),
            }));
        }
        let expected = log.as_ref().map_or(0, Aggregate::next);
        if let Some(log) = log.as_ref().filter(|_| event.seq < expected) {
            return self.replay_stored(log.key, event, &element, options);
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
        aggregate: i64,
        event: &ReplayEvent,
        element: &Element,
        options: &ReplayOptions,
    ) -> Outcome {
        let stored = self.reader().entries(aggregate, &[event.seq as i64])?;
        let is_same = match stored.first() {
            Some(stored) => stored.id == event.id && element.is_stored_as(stored)?,
            None => false,
        };
        if !is_same {
            return Ok(Err(ReplayConflict::Diverged {
                session_id: event.session_id.clone(),
                seq: event.seq,
            }));
        }
        self.adopt(aggregate, options.owner.as_deref())?;
        Ok(Ok(Replayed::Skipped))
    }

    /// The element that comes next.
    fn replay_next(
        &mut self,
        event: &ReplayEvent,
        element: Element,
        options: &ReplayOptions,
    ) -> Outcome {
        let (seq, session_id) = (event.seq, &event.session_id);
        let Some(log) = self.aggregate_for(session_id, &element.payload)? else {
            return Ok(Err(ReplayConflict::NoSession(session_id.clone())));
        };
        let project = Project::of(&element.payload);
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
            seq,
            timestamp: element.timestamp,
            payload: element.payload,
            metadata: event.metadata.clone(),
        };
        if let Err(conflict) = self.record(log.key, recorded, recording)? {
            return Ok(Err(ReplayConflict::Lifecycle { seq, conflict }));
        }
        if let Some(Project {
            id,
            directory,
            time,
        }) = project
        {
            self.add_project(&id, &directory, time)?;
        }
        self.adopt(log.key, options.owner.as_deref())?;
        Ok(Ok(Replayed::Applied))
    }

    /// Where the session lives before the element.
    fn location(&self, id: &SessionID) -> Result<Option<LocationRef>, StoreError> {
        Ok(self.reader().session(id)?.map(|row| row.info.location))
    }

    fn event_exists(&self, id: &EventID) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM event WHERE id = ?")?
            .exists([Packed::event(id)])?)
    }
}

/// The project that a session was created in, which its log knows only by that.
struct Project {
    id: String,
    directory: String,
    time: Millis,
}

impl Project {
    fn of(payload: &SessionEvent) -> Option<Self> {
        let SessionEvent::SessionCreated(SessionCreated { info }) = payload else {
            return None;
        };
        Some(Self {
            id: info.project_id.clone(),
            directory: project_directory(&info.directory, info.path.as_deref()).to_owned(),
            time: info.time.created,
        })
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
