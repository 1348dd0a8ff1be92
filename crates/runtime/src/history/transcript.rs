//! The Session History in the form for the model. Each message is lowered once.
//!
//! The first read reads the whole history; later reads read only the changes. Unchanged messages are passed to the next
//! request as they are. So the unchanged prefix of a request needs no work, and the adapter recognises it without a
//! comparison of its content.

use std::sync::Arc;

use opencode_llm::Message;
use opencode_schema::event::PrunedCall;
use opencode_schema::inspection::HistoryView;
use opencode_schema::message::SessionMessage;
use opencode_store::{HistoryPoint, HistoryRead, Reader, Sequence, SessionKey, StoreError};

use crate::history::estimate::counted_units;
use crate::history::lowering::{Place, Target, lower};
use crate::history::pruning::{KEPT_TOKENS, Outputs, select};
use crate::json::json_size;

/// The known history of a session, in the form for one model.
#[derive(Default)]
pub(crate) struct Transcript {
    /// Stored messages by sequence, with data about their lowered messages.
    entries: Vec<Entry>,
    /// The lowered messages, oldest first.
    messages: Arc<Vec<Message>>,
    known: Option<HistoryPoint>,
    target: Option<Target>,
    bytes: usize,
    units: u64,
    /// Tokens of tool output that pruning may remove.
    prunable: u64,
}

struct Entry {
    seq: Sequence,
    /// Number of lowered messages.
    messages: usize,
    bytes: usize,
    /// Size in the estimate of a request, in UTF-16 units.
    units: u64,
    is_answer: bool,
    is_user: bool,
    outputs: Option<Box<Outputs>>,
}

impl Transcript {
    /// Returns the read that brings the transcript up to date; it runs on a read connection. If the model changed, it
    /// reads everything again, because the kept messages are lowered for the previous model.
    pub(crate) fn reading(
        &self,
        target: &Target,
    ) -> impl FnOnce(&Reader<'_>, SessionKey) -> Result<HistoryRead, StoreError> + Send + use<>
    {
        let is_same = self.target.as_ref() == Some(target);
        let known = self.known.clone().filter(|_| is_same);
        move |reader, session| reader.history_since(session, known.as_ref())
    }

    /// Applies the result of that read.
    pub(crate) fn update(&mut self, read: HistoryRead, target: Target) {
        if read.is_whole {
            *self = Self::default();
        }
        self.replace(read.messages, &target);
        self.known = Some(read.point);
        self.target = Some(target);
    }

    /// Lowers stored messages that are new or changed. Keeps the entries between them unchanged, and does not examine
    /// the entries before the first one.
    fn replace(&mut self, changed: Vec<(Sequence, SessionMessage)>, target: &Target) {
        let Some((first, _)) = changed.first() else {
            return;
        };
        let from = self.entries.partition_point(|entry| entry.seq < *first);
        let entries = self.entries.split_off(from);
        let count: usize = entries.iter().map(|entry| entry.messages).sum();
        let mut entries = entries.into_iter().peekable();
        // `make_mut` copies the messages only if a caller still holds the last request.
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
                self.units -= outdated.units;
                self.prunable -= outdated.prunable();
            }
            let lowered = lower(&stored, target, place_of(&stored, &self.entries));
            let entry = Entry::of(seq, &stored, target, &lowered);
            self.bytes += entry.bytes;
            self.units += entry.units;
            self.prunable += entry.prunable();
            self.entries.push(entry);
            messages.extend(lowered);
        }
        messages.extend(rest);
        self.entries.extend(entries);
    }

    /// Returns the messages of the next request, oldest first.
    pub(crate) fn messages(&self) -> Arc<Vec<Message>> {
        Arc::clone(&self.messages)
    }

    /// Returns the approximate memory size of the messages in bytes: their size as JSON text.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the approximate memory size of the whole transcript in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        /// Bytes per message for its parts without their texts, and for the data about its outputs.
        const PARTS: usize = 512;
        let entries = self.entries.capacity() * size_of::<Entry>();
        self.bytes + entries + self.messages.len() * (size_of::<Message>() + PARTS)
    }

    /// Returns the sequence of the newest log entry that the transcript includes; the first one before the first read.
    pub(crate) fn seq(&self) -> Sequence {
        let known = self.known.as_ref();
        known.map_or(Sequence::FIRST, HistoryPoint::seq)
    }

    /// Returns the calls whose output is to be pruned, oldest first. Examines no message if the total output is too
    /// small.
    pub(crate) fn to_prune(&self) -> Vec<PrunedCall> {
        if self.prunable <= KEPT_TOKENS {
            return Vec::new();
        }
        let entries = self.entries.iter().rev();
        select(entries.map(|entry| (entry.is_user, entry.outputs.as_deref())))
    }

    /// Returns the range of the stored messages in this transcript.
    pub(crate) fn range(&self) -> HistoryView {
        HistoryView {
            from_seq: self.entries.first().map(|entry| entry.seq.into()),
            to_seq: self.entries.last().map(|entry| entry.seq.into()),
            messages: self.entries.len() as u64,
        }
    }

    /// Returns the size of the messages in the estimate of a request, in UTF-16 units of JSON text.
    pub(crate) fn units(&self) -> u64 {
        self.units
    }
}

impl Entry {
    fn of(seq: Sequence, stored: &SessionMessage, target: &Target, lowered: &[Message]) -> Self {
        let sizes: Vec<_> = lowered.iter().map(json_size).collect();
        let counted = lowered.iter().zip(&sizes);
        let counted = counted.map(|(message, size)| counted_units(message, size.units));
        let counted: Vec<_> = counted.collect();
        // Includes the comma between two messages.
        let units = counted.iter().map(|units| units + 1).sum();
        Self {
            seq,
            messages: lowered.len(),
            bytes: sizes.iter().map(|size| size.bytes).sum(),
            units,
            is_answer: matches!(stored, SessionMessage::Assistant(_)),
            is_user: matches!(stored, SessionMessage::User { .. }),
            outputs: Outputs::of(stored, target, lowered.iter().zip(counted)),
        }
    }

    fn prunable(&self) -> u64 {
        self.outputs.as_ref().map_or(0, |outputs| outputs.tokens())
    }
}

/// Returns the place of a message after these entries. Only Mid-Conversation System Messages depend on the place.
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
            calls_tools: true,
            delegates: false,
            hosted: opencode_llm::HostedResults::Repeat,
        }
    }

    /// A stored message that lowers to one message with this text; to no message if the text is empty.
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
        fn changed_entries_are_replaced_and_others_stay(
            story in prop::collection::vec(prop::collection::btree_map(0..12_u64, "[a-c]{0,2}", 0..5), 0..8),
        ) {
            let mut transcript = Transcript::default();
            let mut expected: BTreeMap<Sequence, SessionMessage> = BTreeMap::new();
            for changed in story {
                let before = transcript.messages();
                let first = changed.keys().next().copied().unwrap_or(u64::MAX);
                let first = Sequence::from(first);
                let changed = changed.into_iter().map(|(seq, text)| (Sequence::from(seq), stored(&text)));
                let changed: Vec<_> = changed.collect();
                expected.extend(changed.clone());
                transcript.replace(changed, &target());
                let messages = transcript.messages();
                let lowered = expected.values().flat_map(|it| lower(it, &target(), Place::Usual));
                let lowered: Vec<_> = lowered.collect();
                prop_assert_eq!(&*messages, &lowered);
                let size = lowered.iter().map(json_size).fold((0, 0), |sum, it| (sum.0 + it.bytes, sum.1 + it.units + 1));
                prop_assert_eq!((transcript.bytes(), transcript.units()), size);
                let untouched = expected.range(..first).flat_map(|(_, it)| lower(it, &target(), Place::Usual));
                for at in 0..untouched.count() {
                    prop_assert!(messages[at].is_same(&before[at]));
                }
            }
        }
    }
}
