//! Events as they stand on the wire: one JSON text each.
//!
//! The text is put together instead of being serialised from a tree, because a payload is stored
//! as text already and every delta of every model passes here.

use std::fmt::Write;

use serde::Serialize;

use crate::Record;
use crate::clock::Millis;
use crate::event::{EventSpec, LiveEvent, SessionEvent};
use crate::id::{EventID, SessionID};
use crate::location::LocationRef;

/// The parts of an event's envelope that the wire shows.
pub struct Envelope<'a> {
    /// Its id.
    pub id: &'a EventID,
    /// Its name.
    pub name: &'a str,
    /// Log position of a durable event: sequence and payload version.
    pub durable: Option<(u64, u32)>,
    /// The session.
    pub session_id: &'a SessionID,
    /// When.
    pub timestamp: Millis,
    /// Where it came from; live stream only.
    pub location: Option<&'a LocationRef>,
    /// Additive values, JSON text.
    pub metadata: Option<&'a str>,
}

impl Envelope<'_> {
    /// The event with its payload, a JSON object without `timestamp` and `sessionID`.
    pub fn write(&self, payload: &str) -> String {
        let mut text = String::with_capacity(payload.len() + 256);
        let session_id = json(self.session_id);
        self.write_to(&mut text, payload, &session_id)
            .expect("writing to a text cannot fail");
        text
    }

    fn write_to(&self, text: &mut String, payload: &str, session_id: &str) -> std::fmt::Result {
        write!(text, r#"{{"id":{},"type":"{}""#, json(self.id), self.name)?;
        if let Some((seq, version)) = self.durable {
            write!(
                text,
                r#","durable":{{"aggregateID":{session_id},"seq":{seq},"version":{version}}}"#
            )?;
        }
        if let Some(location) = self.location {
            write!(text, r#","location":{}"#, json(location))?;
        }
        write!(
            text,
            r#","data":{{"timestamp":{},"sessionID":{session_id}"#,
            self.timestamp
        )?;
        if payload != "{}" {
            text.push(',');
            text.push_str(payload.strip_prefix('{').unwrap_or(payload));
        } else {
            text.push('}');
        }
        if let Some(metadata) = self.metadata {
            write!(text, r#","metadata":{metadata}"#)?;
        }
        text.push('}');
        Ok(())
    }
}

/// A live fragment as the live stream shows it.
pub fn live_text(
    id: &EventID,
    session_id: &SessionID,
    timestamp: Millis,
    location: Option<&LocationRef>,
    payload: &LiveEvent,
) -> String {
    let name = payload.name();
    let envelope = Envelope {
        id,
        name,
        durable: None,
        session_id,
        timestamp,
        location,
        metadata: None,
    };
    envelope.write(&json(payload))
}

/// A durable event as the live stream shows it.
pub fn durable_text(event: &crate::event::DurableEvent, location: Option<&LocationRef>) -> String {
    let metadata = event.metadata.as_ref().map(json::<Record>);
    let envelope = Envelope {
        id: &event.id,
        name: event.payload.name(),
        durable: Some((event.seq, event.payload.version())),
        session_id: &event.session_id,
        timestamp: event.timestamp,
        location,
        metadata: metadata.as_deref(),
    };
    match &event.payload {
        // The records of the older shape carry no time of their own.
        SessionEvent::SessionCreated(_)
        | SessionEvent::SessionUpdated(_)
        | SessionEvent::SessionDeleted(_) => older_text(&envelope, &event.payload),
        payload => envelope.write(&json(payload)),
    }
}

fn older_text(envelope: &Envelope<'_>, payload: &SessionEvent) -> String {
    let text = envelope.write(&json(payload));
    text.replacen(&format!(r#""timestamp":{},"#, envelope.timestamp), "", 1)
}

/// An event that concerns the host and no session.
pub fn host_text(id: &EventID, name: &str, data: &impl Serialize) -> String {
    format!(
        r#"{{"id":{},"type":"{name}","data":{}}}"#,
        json(id),
        json(data)
    )
}

/// The durable stream's text of an event read from storage.
pub fn stored_text(
    spec: &EventSpec,
    id: &EventID,
    session_id: &SessionID,
    seq: u64,
    timestamp: Millis,
    payload: &str,
    metadata: Option<&str>,
) -> String {
    let durable = Some((seq, spec.version));
    let name = spec.name;
    Envelope {
        id,
        name,
        durable,
        session_id,
        timestamp,
        location: None,
        metadata,
    }
    .write(payload)
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("values of the vocabulary are plain data")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{DurableEvent, RevertCleared, TextDelta};
    use crate::id::MessageID;
    use serde_json::{Value, json};

    #[test]
    fn events_are_written_as_the_contract_says() {
        let session_id = SessionID::parse("ses_\"a").unwrap();
        let event = DurableEvent {
            id: EventID::parse("evt_1").unwrap(),
            session_id: session_id.clone(),
            seq: 7,
            timestamp: 5,
            payload: RevertCleared {}.into(),
            metadata: Some(Record::from_iter([("k".to_owned(), json!(1))])),
        };
        let location = LocationRef {
            directory: "/d".into(),
            workspace_id: None,
        };
        let value: Value = serde_json::from_str(&durable_text(&event, Some(&location))).unwrap();
        assert_eq!(
            value,
            json!({
                "id": "evt_1", "type": "session.next.revert.cleared",
                "durable": {"aggregateID": "ses_\"a", "seq": 7, "version": 1},
                "location": {"directory": "/d"},
                "data": {"timestamp": 5, "sessionID": "ses_\"a"},
                "metadata": {"k": 1},
            })
        );
        let delta = TextDelta {
            assistant_message_id: MessageID::parse("msg_1").unwrap(),
            text_id: "text-0".into(),
            delta: "x\n".into(),
        };
        assert_eq!(
            live_text(
                &EventID::parse("evt_2").unwrap(),
                &session_id,
                6,
                None,
                &delta.into()
            ),
            r#"{"id":"evt_2","type":"session.next.text.delta","data":{"timestamp":6,"sessionID":"ses_\"a","assistantMessageID":"msg_1","textID":"text-0","delta":"x\n"}}"#
        );
    }
}
