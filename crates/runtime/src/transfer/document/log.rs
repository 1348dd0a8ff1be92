//! The log that a document becomes: events with identifiers that depend on the document alone.

use opencode_schema::clock::Millis;
use opencode_schema::event::SessionEvent;
use opencode_schema::id::{EventID, SessionID};
use opencode_store::ReplayEvent;
use sha1::{Digest, Sha1};

use super::OmittedItem;

/// The events of a document, and the values without an event.
pub(super) struct Log {
    session_id: SessionID,
    events: Vec<(Millis, SessionEvent)>,
    omitted: Vec<OmittedItem>,
}

impl Log {
    pub(super) fn new(session_id: SessionID) -> Self {
        Self {
            session_id,
            events: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// Adds an event.
    pub(super) fn push(&mut self, time: Millis, event: impl Into<SessionEvent>) {
        self.events.push((time, event.into()));
    }

    /// Reports a value that has no event.
    pub(super) fn omit(
        &mut self,
        message_id: Option<&str>,
        part_id: Option<&str>,
        kind: &str,
        reason: &str,
    ) {
        self.omitted.push(OmittedItem {
            message_id: message_id.map(str::to_owned),
            part_id: part_id.map(str::to_owned),
            kind: kind.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// Changes the project in the record of the session.
    pub(super) fn set_project(&mut self, id: String, path: Option<String>) {
        for (_, event) in &mut self.events {
            if let SessionEvent::SessionCreated(created) = event {
                created.info.project_id.clone_from(&id);
                created.info.path.clone_from(&path);
            }
        }
    }

    /// Returns the elements for a replay, and the omitted values.
    pub(super) fn into_parts(self) -> (Vec<ReplayEvent>, Vec<OmittedItem>) {
        let session_id = self.session_id;
        let events = (0..).zip(self.events).map(|(seq, (time, event))| {
            let id = event_id(&session_id, seq);
            ReplayEvent::new(id, session_id.clone(), seq, time, &event)
        });
        (events.collect(), self.omitted)
    }
}

/// Returns the id of an event: a hash of its session and its sequence, in the form of generated ids.
fn event_id(session_id: &SessionID, seq: u64) -> EventID {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let hash = Sha1::digest(format!("{session_id}\n{seq}"));
    let (number, tail) = hash.split_at(6);
    let number: String = number.iter().map(|byte| format!("{byte:02x}")).collect();
    let tail = tail
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte % 62)]));
    let text = format!("evt_{number}{}", tail.collect::<String>());
    EventID::parse(&text).expect("the text has the form of an event id")
}
