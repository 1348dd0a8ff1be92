//! The Session History a drain has read, lowered once.
//!
//! The first Provider Turn of a drain reads the active history; a following one reads what changed
//! since. A message that did not change keeps its lowered form, so the request's unchanged prefix
//! costs a reference count per message.

use std::collections::BTreeMap;

use opencode_llm::Message;
use opencode_schema::message::SessionMessage;
use opencode_store::{Reader, StoreError};

use crate::lowering::{Target, lower};

/// What a drain knows of its session's history.
#[derive(Default)]
pub(crate) struct Transcript {
    messages: BTreeMap<u64, Entry>,
    /// Newest log entry the messages account for.
    read_to: Option<u64>,
    target: Option<Target>,
}

struct Entry {
    stored: SessionMessage,
    lowered: Vec<Message>,
}

/// What a read found.
pub(crate) struct Changes {
    messages: Vec<(u64, SessionMessage)>,
    read_to: u64,
}

impl Transcript {
    /// The read that brings a transcript up to date; it runs on a reading connection.
    pub(crate) fn reading(
        &self,
    ) -> impl FnOnce(&Reader<'_>, i64) -> Result<Changes, StoreError> + Send + use<> {
        let read_to = self.read_to;
        move |reader, session| {
            let messages = match read_to {
                None => reader.history(session)?,
                Some(after) => reader.changed_since(session, after)?,
            };
            Ok(Changes {
                messages,
                read_to: reader.latest_seq(session)?,
            })
        }
    }

    /// Takes in what a read found. Another target lowers everything anew.
    pub(crate) fn update(&mut self, changes: Changes, target: &Target) {
        if self.target.as_ref() != Some(target) {
            for entry in self.messages.values_mut() {
                entry.lowered = lower(&entry.stored, target);
            }
            self.target = Some(target.clone());
        }
        for (seq, stored) in changes.messages {
            let lowered = lower(&stored, target);
            self.messages.insert(seq, Entry { stored, lowered });
        }
        self.read_to = Some(changes.read_to);
    }

    /// The messages of the next request, oldest first.
    pub(crate) fn lowered(&self) -> Vec<Message> {
        self.messages
            .values()
            .flat_map(|entry| entry.lowered.iter().cloned())
            .collect()
    }
}
