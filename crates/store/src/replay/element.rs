//! Elements for log exchange: entries with complete payloads.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{SessionEvent, is_streamed};
use opencode_schema::id::{EventID, SessionID};
use serde::Deserialize;

use crate::error::StoreError;
use crate::format::entry::StoredEvent;
use crate::format::version::Kind;
use crate::replay::ReplayConflict;

/// An element of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayEvent {
    /// Id of the event.
    pub id: EventID,
    /// Id of the session that the log belongs to.
    pub session_id: SessionID,
    /// Sequence of the event.
    pub seq: u64,
    /// Name and version of the type, such as `session.next.prompted.1`.
    pub kind: String,
    /// Complete payload as JSON text: with `sessionID`, and with `timestamp` unless it is of the
    /// older shape.
    pub data: String,
    /// Additive values.
    pub metadata: Option<Record>,
}

/// Checks that a list contains consecutive elements of one session, before they are replayed.
#[derive(Debug, Clone, Default)]
pub struct ReplayOrder {
    expected: Option<(SessionID, u64)>,
}

impl ReplayOrder {
    /// Checks the next element of the list.
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
    /// Returns the entry as an element for replay. Its payload is complete and in canonical form.
    pub fn element(&self, session_id: &SessionID) -> Result<ReplayEvent, StoreError> {
        let corrupt = |reason: &str| StoreError::corrupt(self.seq, reason);
        let kind = self.kind().ok_or_else(|| corrupt("its type is unknown"))?;
        let metadata = self.metadata.as_deref().map(serde_json::from_str);
        let metadata = metadata
            .transpose()
            .map_err(|error| StoreError::corrupt(self.seq, error))?;
        Ok(ReplayEvent {
            id: self.id.clone(),
            session_id: session_id.clone(),
            seq: self.seq.into(),
            kind,
            data: complete(self.number, self.timestamp, session_id, &self.data)
                .ok_or_else(|| corrupt("its payload is no object"))?,
            metadata,
        })
    }
}

impl ReplayEvent {
    /// Creates an element for an event that no log of this program contains yet.
    #[must_use]
    pub fn new(
        id: EventID,
        session_id: SessionID,
        seq: u64,
        timestamp: Millis,
        payload: &SessionEvent,
    ) -> Self {
        let (name, version) = (payload.name(), payload.version());
        let data = serde_json::to_string(payload).expect("a payload is plain data");
        let data = complete(payload.number(), timestamp, &session_id, &data);
        Self {
            id,
            session_id,
            seq,
            kind: format!("{name}.{version}"),
            data: data.expect("a payload is an object"),
            metadata: None,
        }
    }
}

/// Returns a payload with the members that the stored form omits. `None` if it is not an object.
fn complete(number: u32, timestamp: Millis, session_id: &SessionID, data: &str) -> Option<String> {
    let members = data.strip_prefix('{')?;
    let session = serde_json::Value::from(session_id.as_str());
    let timestamp = match is_streamed(number) {
        true => format!("\"timestamp\":{timestamp},"),
        false => String::new(),
    };
    let comma = if data == "{}" { "" } else { "," };
    Some(format!(
        "{{{timestamp}\"sessionID\":{session}{comma}{members}"
    ))
}

/// The parsed content of an element.
pub(crate) struct Element {
    pub(crate) kind: Kind,
    pub(crate) timestamp: Millis,
    pub(crate) payload: SessionEvent,
}

impl Element {
    /// True if the entry has the same content. Entries of the older shape have their time in the
    /// payload.
    pub(crate) fn is_stored_as(&self, stored: &StoredEvent) -> Result<bool, StoreError> {
        let is_kind = (stored.number, stored.version) == (self.kind.number, self.kind.version);
        let is_time = stored.timestamp == self.timestamp || !is_streamed(stored.number);
        Ok(is_kind && is_time && stored.payload()? == self.payload)
    }
}

/// The members that payloads begin with.
#[derive(Deserialize)]
struct Head {
    timestamp: Option<Millis>,
    #[serde(rename = "sessionID")]
    session_id: SessionID,
}

impl ReplayEvent {
    pub(crate) fn parse(&self) -> Result<Element, ReplayConflict> {
        let seq = self.seq;
        let unreadable = |reason: String| ReplayConflict::Payload { seq, reason };
        let kind = Kind::parse(&self.kind).map_err(|_| ReplayConflict::UnknownType {
            seq,
            kind: self.kind.clone(),
        })?;
        let head: Head =
            serde_json::from_str(&self.data).map_err(|error| unreadable(error.to_string()))?;
        let payload = SessionEvent::read(kind.number, &self.data)
            .map_err(|error| unreadable(error.to_string()))?;
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
