//! Entries of the log, before and after they are stored.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{
    DurableEvent, EventSpec, LiveEvent, Notice, SessionEvent, SessionRecord,
};
use opencode_schema::id::EventID;
use opencode_schema::location::LocationRef;

use crate::error::StoreError;
use crate::format::version::{Kind, spec};
use crate::integer::{Sequence, SessionKey};

/// An event that is not stored yet.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Time in epoch milliseconds.
    pub timestamp: Millis,
    /// Payload of the event.
    pub payload: SessionEvent,
    /// Additive values, stored with the event.
    pub metadata: Option<Record>,
    /// Live events that follow the event. They are not stored: the commit listener receives them.
    pub followed_by: Vec<LiveEvent>,
}

impl Draft {
    /// Creates an event without metadata and live events.
    pub fn new(timestamp: Millis, payload: impl Into<SessionEvent>) -> Self {
        Self {
            timestamp,
            payload: payload.into(),
            metadata: None,
            followed_by: Vec::new(),
        }
    }
}

/// A committed entry with the Location of its session.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The stored event.
    pub event: DurableEvent,
    /// Location of the session. The live stream shows it; the store does not keep it.
    pub location: Option<LocationRef>,
    /// The session after the entry, if the entry changed agent, model, Location or staged revert.
    pub updated: Option<Box<Updated>>,
    /// Live events that follow the entry.
    pub followed_by: Vec<LiveEvent>,
    /// Announcements of the messages and parts that the entry changed. Empty unless a [`Demand`](crate::Demand)
    /// exists.
    pub derived: Vec<Notice>,
    pub(crate) aggregate: SessionKey,
    /// True if the commit listener receives the entry. Tails always receive it.
    pub(crate) announced: bool,
}

/// A session after an event that changed it.
#[derive(Debug, Clone)]
pub struct Updated {
    /// Location of the session after the event.
    pub location: LocationRef,
    /// Complete session record.
    pub info: SessionRecord,
}

/// An entry read from the log. Its payload is JSON text with members in the order of the catalogue,
/// without `timestamp` and `sessionID`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Id of the event.
    pub id: EventID,
    /// Sequence of the event.
    pub seq: Sequence,
    /// Number of the type in the catalogue.
    pub number: u32,
    /// Recorded version of the type. An older version can have the payload of the current version.
    pub version: u32,
    /// Time in epoch milliseconds.
    pub timestamp: Millis,
    /// Payload as JSON text.
    pub data: String,
    /// Additive values as JSON text.
    pub metadata: Option<String>,
}

impl StoredEvent {
    /// Returns the catalogue entry of the type.
    pub fn spec(&self) -> Option<&'static EventSpec> {
        spec(self.number)
    }

    /// Returns name and recorded version of the type, such as `session.next.step.ended.2`.
    pub fn kind(&self) -> Option<String> {
        let name = format!("{}.{}", self.spec()?.name, self.version);
        Kind::parse(&name).is_ok().then_some(name)
    }

    /// Parses the additive values.
    pub fn additive(&self) -> Result<Option<Record>, StoreError> {
        let text = self.metadata.as_deref();
        text.map(serde_json::from_str)
            .transpose()
            .map_err(|error| StoreError::corrupt(self.seq, error))
    }

    /// Parses the payload.
    pub fn payload(&self) -> Result<SessionEvent, StoreError> {
        SessionEvent::read(self.number, &self.data)
            .map_err(|error| StoreError::event(self.seq, &error))
    }
}
