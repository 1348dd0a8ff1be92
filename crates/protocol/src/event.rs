//! Events as streams carry them: the catalogue's payloads in their envelopes.

mod schema;

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::event::{
    DurableEvent, DurablePosition, LiveEvent, SessionError, SessionEvent,
};
use opencode_schema::id::{EventID, SessionID};
use opencode_schema::location::LocationRef;
use serde::{Serialize, Serializer};

/// An element of one session's durable stream and of its history.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionDurableEvent(pub DurableEvent);

/// An element of the live stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OpenCodeEvent<'a> {
    /// The subscription stands; whatever happens from here on arrives.
    ServerConnected {
        /// Its id.
        id: &'a EventID,
    },
    /// The host closes; nothing follows.
    GlobalDisposed {
        /// Its id.
        id: &'a EventID,
    },
    /// A durable event that was just committed.
    Durable {
        /// The event.
        event: &'a DurableEvent,
        /// Where its session lives.
        location: &'a LocationRef,
    },
    /// A fragment of something that is not complete yet.
    Fragment {
        /// Its id.
        id: &'a EventID,
        /// Where its session lives.
        location: &'a LocationRef,
        /// When.
        timestamp: Millis,
        /// The session.
        session_id: &'a SessionID,
        /// The fragment.
        payload: &'a LiveEvent,
    },
    /// A Session Drain could not do its work.
    SessionError {
        /// Its id.
        id: &'a EventID,
        /// Where the session lives.
        location: &'a LocationRef,
        /// The session and what went wrong.
        error: &'a SessionError,
    },
}

/// The envelope on the wire.
#[derive(Serialize)]
struct Envelope<'a, Data> {
    id: &'a EventID,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    durable: Option<DurablePosition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a LocationRef>,
    data: Data,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Record>,
}

/// What every payload of a session begins with, and the payload.
#[derive(Serialize)]
struct SessionData<'a, Payload> {
    /// Absent from records of the older shape, which carry their times themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Millis>,
    #[serde(rename = "sessionID")]
    session_id: &'a SessionID,
    #[serde(flatten)]
    payload: &'a Payload,
}

/// The data of events that say all with their type.
#[derive(Serialize)]
struct NoData {}

impl Serialize for SessionDurableEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        durable(&self.0, None).serialize(serializer)
    }
}

impl Serialize for OpenCodeEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::ServerConnected { id } => bare(id, "server.connected").serialize(serializer),
            Self::GlobalDisposed { id } => bare(id, "global.disposed").serialize(serializer),
            Self::Durable { event, location } => {
                durable(event, Some(location)).serialize(serializer)
            }
            Self::Fragment {
                id,
                location,
                timestamp,
                session_id,
                payload,
            } => {
                let data = SessionData {
                    timestamp: Some(timestamp),
                    session_id,
                    payload,
                };
                live(id, payload.name(), location, data).serialize(serializer)
            }
            Self::SessionError {
                id,
                location,
                error,
            } => live(id, "session.error", location, error).serialize(serializer),
        }
    }
}

fn durable<'a>(
    event: &'a DurableEvent,
    location: Option<&'a LocationRef>,
) -> Envelope<'a, SessionData<'a, SessionEvent>> {
    Envelope {
        id: &event.id,
        r#type: event.payload.name(),
        durable: Some(DurablePosition {
            aggregate_id: event.session_id.clone(),
            seq: event.seq,
            version: event.payload.version(),
        }),
        location,
        data: SessionData {
            timestamp: event.is_streamed().then_some(event.timestamp),
            session_id: &event.session_id,
            payload: &event.payload,
        },
        metadata: event.metadata.as_ref(),
    }
}

fn live<'a, Data>(
    id: &'a EventID,
    r#type: &'a str,
    location: &'a LocationRef,
    data: Data,
) -> Envelope<'a, Data> {
    Envelope {
        id,
        r#type,
        durable: None,
        location: Some(location),
        data,
        metadata: None,
    }
}

fn bare<'a>(id: &'a EventID, r#type: &'a str) -> Envelope<'a, NoData> {
    Envelope {
        id,
        r#type,
        durable: None,
        location: None,
        data: NoData {},
        metadata: None,
    }
}

#[cfg(test)]
mod tests {
    use opencode_schema::event::{
        NamedError, NamedErrorData, NamedErrorTag, RevertCleared, TextDelta, TextEnded,
    };
    use opencode_schema::id::MessageID;

    use super::*;

    fn id() -> EventID {
        EventID::parse("evt_1").unwrap()
    }

    fn session_id() -> SessionID {
        SessionID::parse("ses_1").unwrap()
    }

    fn location() -> LocationRef {
        LocationRef {
            directory: "/w".into(),
            workspace_id: None,
        }
    }

    fn text_ended() -> DurableEvent {
        DurableEvent {
            id: id(),
            session_id: session_id(),
            seq: 9,
            timestamp: 5,
            payload: SessionEvent::TextEnded(TextEnded {
                assistant_message_id: MessageID::parse("msg_1").unwrap(),
                text_id: "text-0".into(),
                text: "hi".into(),
            }),
            metadata: None,
        }
    }

    #[test]
    fn durable_events_have_their_position() {
        let plain = SessionDurableEvent(text_ended());
        assert_eq!(
            serde_json::to_string(&plain).unwrap(),
            r#"{"id":"evt_1","type":"session.next.text.ended","durable":{"aggregateID":"ses_1","seq":9,"version":1},"data":{"timestamp":5,"sessionID":"ses_1","assistantMessageID":"msg_1","textID":"text-0","text":"hi"}}"#
        );
        let metadata = Record::from_iter([("a".to_owned(), 1.into())]);
        let cleared = DurableEvent {
            payload: RevertCleared {}.into(),
            metadata: Some(metadata),
            ..text_ended()
        };
        assert_eq!(
            serde_json::to_string(&SessionDurableEvent(cleared)).unwrap(),
            r#"{"id":"evt_1","type":"session.next.revert.cleared","durable":{"aggregateID":"ses_1","seq":9,"version":1},"data":{"timestamp":5,"sessionID":"ses_1"},"metadata":{"a":1}}"#
        );
    }

    #[test]
    fn live_events_have_the_location_of_their_session() {
        let (id, session_id, location) = (&id(), &session_id(), &location());
        let fragment = LiveEvent::TextDelta(TextDelta {
            assistant_message_id: MessageID::parse("msg_1").unwrap(),
            text_id: "text-0".into(),
            delta: "h".into(),
        });
        let error = SessionError {
            session_id: session_id.clone(),
            error: NamedError {
                name: NamedErrorTag::UnknownError,
                data: NamedErrorData {
                    message: "no model".into(),
                },
                cause: None,
            },
        };
        for (event, json) in [
            (
                OpenCodeEvent::ServerConnected { id },
                r#"{"id":"evt_1","type":"server.connected","data":{}}"#,
            ),
            (
                OpenCodeEvent::GlobalDisposed { id },
                r#"{"id":"evt_1","type":"global.disposed","data":{}}"#,
            ),
            (
                OpenCodeEvent::Durable {
                    event: &text_ended(),
                    location,
                },
                r#"{"id":"evt_1","type":"session.next.text.ended","durable":{"aggregateID":"ses_1","seq":9,"version":1},"location":{"directory":"/w"},"data":{"timestamp":5,"sessionID":"ses_1","assistantMessageID":"msg_1","textID":"text-0","text":"hi"}}"#,
            ),
            (
                OpenCodeEvent::Fragment {
                    id,
                    location,
                    timestamp: 5,
                    session_id,
                    payload: &fragment,
                },
                r#"{"id":"evt_1","type":"session.next.text.delta","location":{"directory":"/w"},"data":{"timestamp":5,"sessionID":"ses_1","assistantMessageID":"msg_1","textID":"text-0","delta":"h"}}"#,
            ),
            (
                OpenCodeEvent::SessionError {
                    id,
                    location,
                    error: &error,
                },
                r#"{"id":"evt_1","type":"session.error","location":{"directory":"/w"},"data":{"sessionID":"ses_1","error":{"name":"UnknownError","data":{"message":"no model"}}}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&event).unwrap(), json);
        }
    }
}
