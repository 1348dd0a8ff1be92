//! The Session History as the model reads it, each message lowered once.
//!
//! Somebody who knows no history reads all of it; from then on only what changed. What did not
//! change is handed to the next request as it is, so the request's unchanged prefix costs nothing,
//! and the adapter recognises it without looking inside.

use std::sync::Arc;

use opencode_llm::Message;
use opencode_schema::message::SessionMessage;
use opencode_store::{HistoryPoint, HistoryRead, Reader, StoreError};

use crate::json::json_bytes;
use crate::lowering::{Place, Target, lower};

/// What is known of a session's history, in the form for one model.
#[derive(Default)]
pub(crate) struct Transcript {
    /// Stored messages by sequence, with what each became.
    entries: Vec<Entry>,
    /// What they became, oldest first.
    messages: Arc<Vec<Message>>,
    known: Option<HistoryPoint>,
    target: Option<Target>,
    bytes: usize,
}

struct Entry {
    seq: u64,
    /// How many messages it became.
    messages: usize,
    bytes: usize,
    is_answer: bool,
}

impl Transcript {
    /// The read that brings a transcript up to date; it runs on a reading connection. For another
    /// model than the last one everything is read anew: what is kept is lowered for that one.
    pub(crate) fn reading(
        &self,
        target: &Target,
    ) -> impl FnOnce(&Reader<'_>, i64) -> Result<HistoryRead, StoreError> + Send + use<> {
        let is_same = self.target.as_ref() == Some(target);
        let known = self.known.clone().filter(|_| is_same);
        move |reader, session| reader.history_since(session, known.as_ref())
    }

    /// Takes in what that read found.
    pub(crate) fn update(&mut self, read: HistoryRead, target: Target) {
        if read.is_whole {
            *self = Self::default();
        }
        self.replace(read.messages, &target);
        self.known = Some(read.point);
        self.target = Some(target);
    }

    /// Lowers stored messages that are new or changed. What lies between them stays as it is, and
    /// what lies before the first of them is not looked at.
    fn replace(&mut self, changed: Vec<(u64, SessionMessage)>, target: &Target) {
        let Some((first, _)) = changed.first() else {
            return;
        };
        let from = self.entries.partition_point(|entry| entry.seq < *first);
        let entries = self.entries.split_off(from);
        let count: usize = entries.iter().map(|entry| entry.messages).sum();
        let mut entries = entries.into_iter().peekable();
        // Nobody else holds them any more, unless somebody kept the last request.
        let messages = Arc::make_mut(&mut self.messages);
        let mut rest = messages.split_off(messages.len() - count).into_iter();
        for (seq, stored) in changed {
            while let Some(before) = entries.next_if(|entry| entry.seq < seq) {
                messages.extend(rest.by_ref().take(before.messages));
                self.entries.push(before);
            }
            if let Some(outdated) = entries.next_if(|entry| entry.seq == seq) {
                rest.by_ref().take(outdated.messages).for_each(drop);
                self.bytes -= outdated.bytes;
            }
            let lowered = lower(&stored, target, place_of(&stored, &self.entries));
            let entry = Entry {
                seq,
                messages: lowered.len(),
                bytes: lowered.iter().map(json_bytes).sum(),
                is_answer: matches!(stored, SessionMessage::Assistant(_)),
            };
            self.bytes += entry.bytes;
            self.entries.push(entry);
            messages.extend(lowered);
        }
        messages.extend(rest);
        self.entries.extend(entries);
    }

    /// The messages of the next request, oldest first.
    pub(crate) fn messages(&self) -> Arc<Vec<Message>> {
        Arc::clone(&self.messages)
    }

    /// About how much memory the messages take: their size as JSON text.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The place of a message that comes behind these entries. Only for what is told by the way does it
/// make a difference.
fn place_of(stored: &SessionMessage, before: &[Entry]) -> Place {
    if !matches!(stored, SessionMessage::System { .. }) {
        return Place::Usual;
    }
    let mut silent = before.iter().rev().take_while(|entry| entry.messages == 0);
    if silent.any(|entry| entry.is_answer) {
        Place::BehindSilence
    } else {
        Place::Usual
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use opencode_schema::id::MessageID;
    use opencode_schema::message::CreatedTime;
    use proptest::prelude::*;

    use super::*;

    fn target() -> Target {
        Target {
            provider_id: "mock".to_owned(),
            wire_id: "m1".to_owned(),
        }
    }

    /// A stored message that becomes one of this text; nothing if it has none.
    fn stored(text: &str) -> SessionMessage {
        let id = MessageID::parse("msg_1").unwrap();
        let (metadata, time) = (None, CreatedTime { created: 0 });
        if text.is_empty() {
            let agent = "build".to_owned();
            return SessionMessage::AgentSwitched {
                id,
                metadata,
                time,
                agent,
            };
        }
        SessionMessage::User {
            id,
            metadata,
            time,
            text: text.to_owned(),
            files: None,
            agents: None,
        }
    }

    proptest! {
        #[test]
        fn what_changed_is_replaced_and_the_rest_stays(
            story in prop::collection::vec(prop::collection::btree_map(0..12_u64, "[a-c]{0,2}", 0..5), 0..8),
        ) {
            let mut transcript = Transcript::default();
            let mut expected: BTreeMap<u64, SessionMessage> = BTreeMap::new();
            for changed in story {
                let before = transcript.messages();
                let first = changed.keys().next().copied().unwrap_or(u64::MAX);
                let changed = changed.into_iter().map(|(seq, text)| (seq, stored(&text)));
                let changed: Vec<_> = changed.collect();
                expected.extend(changed.clone());
                transcript.replace(changed, &target());
                let messages = transcript.messages();
                let lowered = expected.values().flat_map(|it| lower(it, &target(), Place::Usual));
                let lowered: Vec<_> = lowered.collect();
                prop_assert_eq!(&*messages, &lowered);
                prop_assert_eq!(transcript.bytes(), lowered.iter().map(json_bytes).sum::<usize>());
                let untouched = expected.range(..first).flat_map(|(_, it)| lower(it, &target(), Place::Usual));
                for at in 0..untouched.count() {
                    prop_assert!(messages[at].is_same(&before[at]));
                }
            }
        }
    }
}
