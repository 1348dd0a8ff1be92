//! The wire form of events: one JSON text for each event.
//!
//! The functions concatenate text instead of serialising a tree of values. A stored payload is
//! already text, and every delta of every model passes through this module.

use std::fmt::{self, Display};

use crate::clock::Millis;
use crate::event::{
    DurableEvent, EventSpec, LiveEvent, Notice, SessionRecord, SessionUpdated, is_streamed,
};
use crate::id::{EventID, SessionID};
use crate::json::json;
use crate::location::LocationRef;

/// Returns a durable event as the live stream sends it.
pub fn durable_text(event: &DurableEvent, location: Option<&LocationRef>) -> String {
    let payload = json(&event.payload);
    let metadata = event.metadata.as_ref().map(json);
    let envelope = Envelope {
        id: &event.id,
        name: event.payload.name(),
        durable: Some(Position {
            session_id: &event.session_id,
            seq: event.seq,
            version: event.payload.version(),
        }),
        location,
        data: SessionData {
            timestamp: event.is_streamed().then_some(event.timestamp),
            session_id: &event.session_id,
            payload: &payload,
        },
        metadata: metadata.as_deref(),
    };
    envelope.to_string()
}

/// Returns `session.updated` with the whole session record, as the live stream sends it after a
/// change.
pub fn updated_text(id: &EventID, location: &LocationRef, info: &SessionRecord) -> String {
    let updated = SessionUpdated { info: info.clone() };
    let data = SessionData {
        timestamp: None,
        session_id: &info.id,
        payload: &json(&updated),
    };
    Envelope::live(id, "session.updated", Some(location), data).to_string()
}

/// Returns a durable event read from storage as the durable stream sends it.
pub fn stored_text(
    spec: &EventSpec,
    id: &EventID,
    session_id: &SessionID,
    seq: u64,
    timestamp: Millis,
    payload: &str,
    metadata: Option<&str>,
) -> String {
    let envelope = Envelope {
        id,
        name: spec.name,
        durable: Some(Position {
            session_id,
            seq,
            version: spec.version,
        }),
        location: None,
        data: SessionData {
            timestamp: is_streamed(spec.number).then_some(timestamp),
            session_id,
            payload,
        },
        metadata,
    };
    envelope.to_string()
}

/// Returns a live fragment as the live stream sends it.
pub fn live_text(
    id: &EventID,
    session_id: &SessionID,
    timestamp: Millis,
    location: Option<&LocationRef>,
    payload: &LiveEvent,
) -> String {
    let data = SessionData {
        timestamp: Some(timestamp),
        session_id,
        payload: &json(payload),
    };
    Envelope::live(id, payload.name(), location, data).to_string()
}

/// Returns an announcement as the live stream sends it.
pub fn notice_text(id: &EventID, location: Option<&LocationRef>, notice: &Notice) -> String {
    announcement_text(id, location, notice.name(), &notice.data())
}

/// Returns the announcement with this name and this payload, which is JSON text.
pub fn announcement_text(
    id: &EventID,
    location: Option<&LocationRef>,
    name: &str,
    data: &str,
) -> String {
    Envelope::live(id, name, location, data).to_string()
}

/// Returns an event of the host that has no session and an empty payload.
pub fn host_text(id: &EventID, name: &str) -> String {
    Envelope::live(id, name, None, "{}").to_string()
}

/// The envelope around the data of an event.
struct Envelope<'a, Data> {
    id: &'a EventID,
    name: &'a str,
    durable: Option<Position<'a>>,
    /// Location of the event. Only the live stream has it.
    location: Option<&'a LocationRef>,
    data: Data,
    /// Additive values as JSON text.
    metadata: Option<&'a str>,
}

/// The position of a durable event in its log.
struct Position<'a> {
    session_id: &'a SessionID,
    seq: u64,
    version: u32,
}

/// A payload, preceded by the members that every session payload begins with.
struct SessionData<'a> {
    /// Absent for records of the older shape, which contain their times.
    timestamp: Option<Millis>,
    session_id: &'a SessionID,
    /// JSON text of an object.
    payload: &'a str,
}

impl<'a, Data> Envelope<'a, Data> {
    fn live(id: &'a EventID, name: &'a str, location: Option<&'a LocationRef>, data: Data) -> Self {
        Self {
            id,
            name,
            durable: None,
            location,
            data,
            metadata: None,
        }
    }
}

impl<Data: Display> Display for Envelope<'_, Data> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{{"id":{},"type":"{}""#, json(self.id), self.name)?;
        if let Some(position) = &self.durable {
            write!(f, r#","durable":{position}"#)?;
        }
        if let Some(location) = self.location {
            write!(f, r#","location":{}"#, json(location))?;
        }
        write!(f, r#","data":{}"#, self.data)?;
        if let Some(metadata) = self.metadata {
            write!(f, r#","metadata":{metadata}"#)?;
        }
        f.write_str("}")
    }
}

impl Display for Position<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            session_id,
            seq,
            version,
        } = self;
        let session_id = json(session_id);
        write!(
            f,
            r#"{{"aggregateID":{session_id},"seq":{seq},"version":{version}}}"#
        )
    }
}

impl Display for SessionData<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        if let Some(timestamp) = self.timestamp {
            write!(f, r#""timestamp":{timestamp},"#)?;
        }
        write!(f, r#""sessionID":{}"#, json(self.session_id))?;
        let members = self.payload.strip_prefix('{').unwrap_or(self.payload);
        if members != "}" {
            f.write_str(",")?;
        }
        f.write_str(members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{
        DURABLE_EVENTS, NamedError, NamedErrorData, NamedErrorTag, RevertCleared, SessionCreated,
        SessionError, SessionEvent, SessionRecord, TextDelta, TextEnded,
    };
    use crate::id::{MessageID, WorkspaceID};
    use crate::record::Record;
    use crate::session::SessionTime;

    fn id() -> EventID {
        EventID::parse("evt_1").unwrap()
    }

    /// Callers choose identifiers, so an identifier can contain any character.
    fn session_id() -> SessionID {
        SessionID::parse("ses_\"1").unwrap()
    }

    fn message_id() -> MessageID {
        MessageID::parse("msg_1").unwrap()
    }

    fn location() -> LocationRef {
        LocationRef {
            directory: "/w".into(),
            workspace_id: None,
        }
    }

    fn event(payload: impl Into<SessionEvent>, metadata: Option<Record>) -> DurableEvent {
        DurableEvent {
            id: id(),
            session_id: session_id(),
            seq: 9,
            timestamp: 5,
            payload: payload.into(),
            metadata,
        }
    }

    fn text_ended() -> TextEnded {
        TextEnded {
            assistant_message_id: message_id(),
            text_id: "text-0".into(),
            text: "hi\n".into(),
        }
    }

    fn session_created() -> SessionCreated {
        let info = SessionRecord {
            id: session_id(),
            slug: "calm-fox".into(),
            project_id: "global".into(),
            workspace_id: None,
            directory: r#"/"timestamp":5,"#.into(),
            path: None,
            parent_id: None,
            title: "New".into(),
            agent: None,
            model: None,
            version: "1".into(),
            time: SessionTime {
                created: 5,
                updated: 5,
                archived: None,
            },
            permission: None,
            budget: None,
            cost: None,
            tokens: None,
            revert: None,
            share: None,
            summary: None,
        };
        SessionCreated { info }
    }

    #[test]
    fn durable_events_have_their_position() {
        let metadata = Record::from_iter([("a".to_owned(), json!(1))]);
        let there = LocationRef {
            workspace_id: Some(WorkspaceID::parse("wrk_1").unwrap()),
            ..location()
        };
        for (event, location, text) in [
            (
                event(text_ended(), None),
                None,
                r#"{"id":"evt_1","type":"session.next.text.ended","durable":{"aggregateID":"ses_\"1","seq":9,"version":1},"data":{"timestamp":5,"sessionID":"ses_\"1","assistantMessageID":"msg_1","textID":"text-0","text":"hi\n"}}"#,
            ),
            (
                event(text_ended(), Some(metadata.clone())),
                Some(location()),
                r#"{"id":"evt_1","type":"session.next.text.ended","durable":{"aggregateID":"ses_\"1","seq":9,"version":1},"location":{"directory":"/w"},"data":{"timestamp":5,"sessionID":"ses_\"1","assistantMessageID":"msg_1","textID":"text-0","text":"hi\n"},"metadata":{"a":1}}"#,
            ),
            (
                event(RevertCleared {}, Some(metadata)),
                None,
                r#"{"id":"evt_1","type":"session.next.revert.cleared","durable":{"aggregateID":"ses_\"1","seq":9,"version":1},"data":{"timestamp":5,"sessionID":"ses_\"1"},"metadata":{"a":1}}"#,
            ),
            (
                event(RevertCleared {}, None),
                Some(there),
                r#"{"id":"evt_1","type":"session.next.revert.cleared","durable":{"aggregateID":"ses_\"1","seq":9,"version":1},"location":{"directory":"/w","workspaceID":"wrk_1"},"data":{"timestamp":5,"sessionID":"ses_\"1"}}"#,
            ),
            (
                event(session_created(), None),
                Some(location()),
                r#"{"id":"evt_1","type":"session.created","durable":{"aggregateID":"ses_\"1","seq":9,"version":1},"location":{"directory":"/w"},"data":{"sessionID":"ses_\"1","info":{"id":"ses_\"1","slug":"calm-fox","projectID":"global","directory":"/\"timestamp\":5,","title":"New","version":"1","time":{"created":5,"updated":5}}}}"#,
            ),
        ] {
            assert_eq!(durable_text(&event, location.as_ref()), text);
        }
    }

    #[test]
    fn a_stored_event_equals_the_announced_event() {
        let metadata = Record::from_iter([("a".to_owned(), json!(1))]);
        for event in [
            event(text_ended(), None),
            event(text_ended(), Some(metadata.clone())),
            event(RevertCleared {}, Some(metadata)),
            event(session_created(), None),
        ] {
            let number = event.payload.number();
            let spec = DURABLE_EVENTS.iter().find(|spec| spec.number == number);
            let stored = stored_text(
                spec.unwrap(),
                &event.id,
                &event.session_id,
                event.seq,
                event.timestamp,
                &super::json(&event.payload),
                event.metadata.as_ref().map(super::json).as_deref(),
            );
            assert_eq!(stored, durable_text(&event, None));
        }
    }

    #[test]
    fn live_events_have_the_location_of_their_session() {
        let delta = TextDelta {
            assistant_message_id: message_id(),
            text_id: "text-0".into(),
            delta: "h\n".into(),
        }
        .into();
        let error = Notice::SessionError(SessionError {
            session_id: session_id(),
            error: NamedError {
                name: NamedErrorTag::UnknownError,
                data: NamedErrorData {
                    message: "no model".into(),
                },
                cause: None,
            },
        });
        let location = location();
        for (text, expected) in [
            (
                live_text(&id(), &session_id(), 6, Some(&location), &delta),
                r#"{"id":"evt_1","type":"session.next.text.delta","location":{"directory":"/w"},"data":{"timestamp":6,"sessionID":"ses_\"1","assistantMessageID":"msg_1","textID":"text-0","delta":"h\n"}}"#,
            ),
            (
                live_text(&id(), &session_id(), 6, None, &delta),
                r#"{"id":"evt_1","type":"session.next.text.delta","data":{"timestamp":6,"sessionID":"ses_\"1","assistantMessageID":"msg_1","textID":"text-0","delta":"h\n"}}"#,
            ),
            (
                notice_text(&id(), Some(&location), &error),
                r#"{"id":"evt_1","type":"session.error","location":{"directory":"/w"},"data":{"sessionID":"ses_\"1","error":{"name":"UnknownError","data":{"message":"no model"}}}}"#,
            ),
            (
                notice_text(&id(), None, &error),
                r#"{"id":"evt_1","type":"session.error","data":{"sessionID":"ses_\"1","error":{"name":"UnknownError","data":{"message":"no model"}}}}"#,
            ),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn events_of_the_host_have_empty_data() {
        for (name, text) in [
            (
                "server.connected",
                r#"{"id":"evt_1","type":"server.connected","data":{}}"#,
            ),
            (
                "global.disposed",
                r#"{"id":"evt_1","type":"global.disposed","data":{}}"#,
            ),
        ] {
            assert_eq!(host_text(&id(), name), text);
        }
    }
}
