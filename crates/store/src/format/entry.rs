//! Entries of the log, before and after they are stored.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{DurableEvent, EventSpec, SessionEvent, SessionRecord};
use opencode_schema::id::EventID;
use opencode_schema::location::LocationRef;

use crate::error::StoreError;
use crate::format::version::{Kind, spec};

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
