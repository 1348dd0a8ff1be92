//! The catalogue of session events: durable events and live fragments.
//!
//! A payload on the wire is `{timestamp, sessionID, ...}` followed by the fields declared here, in
//! this order. The stored type of a durable event is its name, a dot and its version.

/// Declares the payload types of several events, an enum of them, and the list of their kinds.
macro_rules! events {
    (
        $(#[$enum_doc:meta])* $enum:ident, $specs:ident;
        $( $(#[$doc:meta])* $number:literal $name:literal $version:literal $variant:ident {
            $( $(#[$attr:meta])* $field:ident: $type:ty, )*
        } )*
    ) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[allow(clippy::empty_structs_with_brackets, reason = "some payloads have no fields of their own")]
            pub struct $variant { $( $(#[$attr])* pub $field: $type, )* }

            impl $variant {
                /// Number of the event in the database.
                pub const NUMBER: u32 = $number;
            }

            impl From<$variant> for $enum {
                fn from(payload: $variant) -> Self {
                    Self::$variant(payload)
                }
            }
        )*

        $(#[$enum_doc])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "each payload type has its own text")]
        pub enum $enum { $( $variant($variant), )* }

        /// All kinds, ordered by number.
        pub const $specs: &[EventSpec] = &[$(
            EventSpec {
                name: $name,
                version: $version,
                number: $variant::NUMBER,
                type_name: stringify!($variant),
            },
        )*];

        impl $enum {
            /// Returns the schema of the payload type with this name, without `timestamp` and `sessionID`. It is no part
            /// of the list of kinds, because the addon contains that list and no schemas.
            pub fn schema(type_name: &str, generator: &mut SchemaGenerator) -> Option<Schema> {
                match type_name {
                    $( stringify!($variant) => Some($variant::json_schema(generator)), )*
                    _ => None,
                }
            }

            /// Returns the name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )* }
            }

            /// Returns the version of the payload.
            pub fn version(&self) -> u32 {
                match self { $( Self::$variant(_) => $version, )* }
            }

            /// Returns the number in the database.
            pub fn number(&self) -> u32 {
                match self { $( Self::$variant(_) => $variant::NUMBER, )* }
            }

            /// Reads a payload of the kind with this number. Ignores unknown members.
            pub fn read(number: u32, data: &str) -> Result<Self, EventError> {
                match number {
                    $( $variant::NUMBER => serde_json::from_str::<$variant>(data)
                        .map(Self::$variant)
                        .map_err(|source| EventError::Payload { name: $name, source }), )*
                    other => Err(EventError::UnknownType(format!("number {other}"))),
                }
            }
        }
    };
}

// These modules follow the macro because they use it.
mod derived;
mod durable;
mod live;
mod notice;
mod values;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::id::{EventID, SessionID};
use crate::record::Record;

pub use derived::{
    MessagePartRemoved, MessagePartUpdated, MessagePath, MessageRemoved, MessageUpdated,
    SessionCompacted, SessionDiffed,
};
pub use durable::*;
pub use live::*;
pub use notice::{DERIVED, NOTICES, Nothing, Notice, NoticeSpec, SELECTED_ONLY};
pub use values::{
    EventProvider, NamedError, NamedErrorData, NamedErrorTag, PrunedCall, RecordedRevert,
    RecordedRule, RetryError, SessionError, SessionIdle, SessionRecord, SessionStatus,
    SessionStatusChanged,
};

/// Names of the events of the stream itself. Every subscriber receives them.
pub const STREAM_EVENTS: &[&str] = &["server.connected", "server.heartbeat", "global.disposed"];

/// Returns the names of all events of the live stream.
pub fn event_names() -> impl Iterator<Item = &'static str> {
    let sessions = DURABLE_EVENTS.iter().chain(LIVE_EVENTS);
    let names = STREAM_EVENTS.iter().copied();
    names
        .chain(sessions.map(|spec| spec.name))
        .chain(NOTICES.iter().map(|spec| spec.name))
}

/// One kind of event of the catalogue.
pub struct EventSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// Version of its payload.
    pub version: u32,
    /// Number that represents name and version in the database. Never reused.
    pub number: u32,
    /// Name of the Rust payload type. Generated types have the same name.
    pub type_name: &'static str,
}

/// The error for an event that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The event type is unknown.
    #[error("unknown event type {0}")]
    UnknownType(String),
    /// The payload does not match the type.
    #[error("the payload of {name} does not fit its type: {source}")]
    Payload {
        /// Name of the event.
        name: &'static str,
        /// Decoding error.
        source: serde_json::Error,
    },
}

/// The position of a durable event in its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DurablePosition {
    /// Id of the session.
    #[serde(rename = "aggregateID")]
    pub aggregate_id: SessionID,
    /// Gapless sequence in the log of the session.
    pub seq: u64,
    /// Version of the payload.
    pub version: u32,
}

/// A durable event with its envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct DurableEvent {
    /// Id of the event.
    pub id: EventID,
    /// Id of the session.
    pub session_id: SessionID,
    /// Sequence of the event.
    pub seq: u64,
    /// Time in epoch milliseconds. For a Prompt Promotion: the time of the admission.
    pub timestamp: Millis,
    /// Payload of the event.
    pub payload: SessionEvent,
    /// Additive values from the publisher, stored with the event.
    pub metadata: Option<Record>,
}

impl DurableEvent {
    /// True if the event belongs to the session's durable stream. Records of the older shape, such
    /// as `session.created`, have a sequence but are not part of the stream.
    pub fn is_streamed(&self) -> bool {
        is_streamed(self.payload.number())
    }
}

/// Database numbers of the records of the older shape, which are not part of the durable stream.
pub const RECORDS: [u32; 3] = [
    SessionCreated::NUMBER,
    SessionUpdated::NUMBER,
    SessionDeleted::NUMBER,
];

/// True if events with this database number belong to the durable stream.
pub fn is_streamed(number: u32) -> bool {
    !RECORDS.contains(&number)
}

/// Returns the database number of a stored type such as `session.next.step.ended.2`.
pub fn number_of(versioned: &str) -> Result<u32, EventError> {
    // Version 1 of the checkpoint has the payload of version 2. Logs of other programs contain
    // version 1.
    let current = if versioned == "session.next.compaction.ended.1" {
        "session.next.compaction.ended.2"
    } else {
        versioned
    };
    DURABLE_EVENTS
        .iter()
        .find(|spec| {
            current
                .strip_prefix(spec.name)
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|version| version == spec.version.to_string())
        })
        .map(|spec| spec.number)
        .ok_or_else(|| EventError::UnknownType(versioned.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_ascending() {
        for specs in [DURABLE_EVENTS, LIVE_EVENTS] {
            assert!(specs.windows(2).all(|pair| pair[0].number < pair[1].number));
        }
    }

    #[test]
    fn every_stored_type_is_found_by_its_name_and_version() {
        for spec in DURABLE_EVENTS {
            assert_eq!(
                number_of(&format!("{}.{}", spec.name, spec.version)).unwrap(),
                spec.number
            );
        }
        assert_eq!(
            number_of("session.next.compaction.ended.1").unwrap(),
            CompactionEnded::NUMBER
        );
        assert!(number_of("session.next.compaction.ended.3").is_err());
        assert!(number_of("session.next.text").is_err());
    }

    #[test]
    fn payloads_keep_their_key_order_and_drop_unknown_members() {
        let text = r#"{"assistantMessageID":"msg_a","textID":"text-0","text":"hi"}"#;
        let with_more = r#"{"text":"hi","more":1,"assistantMessageID":"msg_a","textID":"text-0"}"#;
        let event = SessionEvent::read(TextEnded::NUMBER, with_more).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        assert_eq!(SessionEvent::read(TextEnded::NUMBER, text).unwrap(), event);
    }
}
