//! Replay: appends entries from another database, which already have a position in a log.
//!
//! A log is replayed element by element, in order. An element that is already stored must be
//! identical and is skipped. Later elements are recorded, projected and marked as imported. The owner
//! of a log may extend it. Elements from any other replayer are skipped or, with `strict_owner`,
//! refused.

pub(crate) mod element;

use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, SessionCreated, SessionEvent};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;

use crate::error::{Abort, StoreError};
use crate::format::packed::Packed;
use crate::integer::SessionKey;
use crate::projections::LifecycleConflict;
use crate::replay::element::{Element, ReplayEvent};
use crate::view::transaction::Transaction;
use crate::writer::append::Recording;

/// Options of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Replayer of the log. It becomes the owner of a log without an owner.
    pub owner: Option<String>,
    /// True if another owner is a conflict. Otherwise the elements are skipped.
    pub strict_owner: bool,
    /// True if the commit listener receives the applied entries. Tails always receive them.
    pub publish: bool,
}

/// The result of replaying an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// The element was recorded and projected.
    Applied,
    /// The element is already recorded, or the log has another owner.
    Skipped,
}

/// The reason that an element was refused. The element changed nothing. The caller decides if
/// earlier changes of the same transaction are kept or rolled back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayConflict {
    /// The list contains elements of two sessions.
    #[error("the elements belong to several sessions: {first} and, at sequence {seq}, {other}")]
    MixedSessions {
        /// Session of the first element.
        first: SessionID,
        /// Other session.
        other: SessionID,
        /// Sequence of the element that differs.
        seq: u64,
    },
    /// The list omits or repeats a sequence.
    #[error("the elements are not consecutive: sequence {expected} must come next, not {found}")]
    NotConsecutive {
        /// Expected sequence.
        expected: u64,
        /// Actual sequence.
        found: u64,
    },
    /// The event type is unknown.
    #[error("the element {seq} has the unknown type {kind:?}")]
    UnknownType {
        /// Sequence of the element.
        seq: u64,
        /// Name of the type.
        kind: String,
    },
    /// The payload does not match the type.
    #[error("the element {seq} cannot be read: {reason}")]
    Payload {
        /// Sequence of the element.
        seq: u64,
        /// Decoding error.
        reason: String,
    },
    /// The payload names another session than the element.
    #[error("the element {seq} of {session_id} has a payload of {named}")]
    ForeignSession {
        /// Sequence of the element.
        seq: u64,
        /// Session of the element.
        session_id: SessionID,
        /// Session of the payload.
        named: SessionID,
    },
    /// The log has another owner.
    #[error("the log of {session_id} belongs to {owner:?}")]
    OwnerMismatch {
        /// Id of the session.
        session_id: SessionID,
        /// Owner of the log.
        owner: String,
    },
    /// Another entry is stored at this sequence.
    #[error("the log of {session_id} has another entry at sequence {seq}: the two have diverged")]
    Diverged {
        /// Id of the session.
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
        /// Expected sequence.
        expected: u64,
        /// Sequence of the element.
        found: u64,
    },
    /// Another entry of any session has this id.
    #[error("the event id {id} of the element {seq} is in use")]
    EventIdInUse {
        /// Sequence of the element.
        seq: u64,
        /// Id of the event.
        id: EventID,
    },
    /// The session does not exist. A log must begin with the creation of its session.
    #[error("the session {0} does not exist, and the element does not create it")]
    NoSession(SessionID),
    /// The element contradicts earlier entries or other sessions.
    #[error("the element {seq} contradicts what is stored: {conflict}")]
    Lifecycle {
        /// Sequence of the element.
        seq: u64,
        /// The contradiction.
        conflict: LifecycleConflict,
    },
}

type Outcome = Result<Replayed, Abort<ReplayConflict>>;

impl Transaction<'_> {
    /// Replays one element of a log. A conflict changes nothing.
    pub fn replay(&mut self, event: &ReplayEvent, options: &ReplayOptions) -> Outcome {
        let element = event.parse().map_err(Abort::Refused)?;
        let log = self.reader().aggregate(&event.session_id)?;
        let owner = log.as_ref().and_then(|log| log.owner.as_deref());
        let foreign = owner.filter(|owner| Some(*owner) != options.owner.as_deref());
        if let Some(owner) = foreign.filter(|_| options.strict_owner) {
            return Err(Abort::Refused(ReplayConflict::OwnerMismatch {
                session_id: event.session_id.clone(),
                owner: owner.to_owned(),
            }));
        }
        let expected = log.as_ref().map_or(0, |log| log.next.into());
        if let Some(log) = log.as_ref().filter(|_| event.seq < expected) {
            return self.replay_stored(log.key, event, &element, options);
        }
        if foreign.is_some() {
            return Ok(Replayed::Skipped);
        }
        if event.seq > expected {
            return Err(Abort::Refused(ReplayConflict::Gap {
                session_id: event.session_id.clone(),
                expected,
                found: event.seq,
            }));
        }
        if self.event_exists(&event.id)? {
            return Err(Abort::Refused(ReplayConflict::EventIdInUse {
                seq: event.seq,
                id: event.id.clone(),
            }));
        }
        self.replay_next(event, element, options)
    }

    /// Checks that an element that is already stored equals the stored entry.
    fn replay_stored(
        &self,
        aggregate: SessionKey,
        event: &ReplayEvent,
        element: &Element,
        options: &ReplayOptions,
    ) -> Outcome {
        let stored = self.reader().entries(aggregate, &[event.seq.into()])?;
        let is_same = match stored.first() {
            Some(stored) => stored.id == event.id && element.is_stored_as(stored)?,
            None => false,
        };
        if !is_same {
            return Err(Abort::Refused(ReplayConflict::Diverged {
                session_id: event.session_id.clone(),
                seq: event.seq,
            }));
        }
        self.set_first_owner(aggregate, options.owner.as_deref())?;
        Ok(Replayed::Skipped)
    }

    /// Records the next element of a log.
    fn replay_next(
        &mut self,
        event: &ReplayEvent,
        element: Element,
        options: &ReplayOptions,
    ) -> Outcome {
        let (seq, session_id) = (event.seq, &event.session_id);
        let Some(log) = self.aggregate_for(session_id, &element.payload)? else {
            return Err(Abort::Refused(ReplayConflict::NoSession(
                session_id.clone(),
            )));
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
            followed_by: Vec::new(),
        };
        let recorded = DurableEvent {
            id: event.id.clone(),
            session_id: session_id.clone(),
            seq,
            timestamp: element.timestamp,
            payload: element.payload,
            metadata: event.metadata.clone(),
        };
        let recorded = self.record(log.key, recorded, recording);
        recorded
            .map_err(|abort| abort.map(|conflict| ReplayConflict::Lifecycle { seq, conflict }))?;
        self.mark_imported(log.key, seq.into())?;
        if let Some(Project {
            id,
            directory,
            time,
        }) = project
        {
            self.add_project(&id, &directory, time)?;
        }
        self.set_first_owner(log.key, options.owner.as_deref())?;
        Ok(Replayed::Applied)
    }

    /// Returns the Location of the session before the element.
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

/// The project in which a session was created. A log has no other data about its project.
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

/// Returns the directory of a project: the session's directory without the session's path in the
/// project.
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
