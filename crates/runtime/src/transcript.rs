//! The Session History as the model reads it, each message lowered once.
//!
//! Somebody who knows no history reads all of it; from then on only what changed. What did not
//! change is handed to the next request as it is, so the request's unchanged prefix costs nothing,
//! and the adapter recognises it without looking inside.

use std::sync::Arc;

use opencode_llm::Message;
use opencode_schema::event::PrunedCall;
use opencode_schema::inspection::HistoryView;
use opencode_schema::message::SessionMessage;
use opencode_store::{HistoryPoint, HistoryRead, Reader, StoreError};

use crate::compaction::counted_units;
use crate::json::json_size;
use crate::lowering::{Place, Target, lower};
use crate::pruning::{KEPT_TOKENS, Outputs, select};

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
    units: u64,
    /// Tokens of tool output that could be pruned.
    prunable: u64,
}

struct Entry {
    seq: u64,
    /// How many messages it became.
    messages: usize,
    bytes: usize,
    /// What they count for in the estimate of a request.
    units: u64,
    is_answer: bool,
    is_user: bool,
    outputs: Option<Box<Outputs>>,
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
                self.units -= outdated.units;
                self.prunable -= outdated.prunable();
            }
            let lowered = lower(&stored, target, place_of(&stored, &self.entries));
            let entry = Entry::of(seq, &stored, &lowered);
            self.bytes += entry.bytes;
            self.units += entry.units;
            self.prunable += entry.prunable();
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

    /// About how much memory all of it takes.
    pub(crate) fn held_bytes(&self) -> usize {
        /// The parts of a message beside their texts, and what is known of its outputs.
        const PARTS: usize = 512;
        let entries = self.entries.capacity() * size_of::<Entry>();
        self.bytes + entries + self.messages.len() * (size_of::<Message>() + PARTS)
    }

    /// The newest entry of the log that is accounted for; 0 before anything was read.
    pub(crate) fn seq(&self) -> u64 {
        self.known.as_ref().map_or(0, HistoryPoint::seq)
    }

    /// The calls whose output is to be pruned, oldest first. Where too little was ever put out, no
    /// message is looked at.
    pub(crate) fn to_prune(&self) -> Vec<PrunedCall> {
        if self.prunable <= KEPT_TOKENS {
            return Vec::new();
        }
        let entries = self.entries.iter().rev();
        select(entries.map(|entry| (entry.is_user, entry.outputs.as_deref())))
    }

    /// The stored messages that this is made of.
    pub(crate) fn range(&self) -> HistoryView {
        HistoryView {
            from_seq: self.entries.first().map(|entry| entry.seq),
            to_seq: self.entries.last().map(|entry| entry.seq),
            messages: self.entries.len() as u64,
        }
    }

    /// What the messages count for in the estimate of a request, in UTF-16 units of JSON text.
    pub(crate) fn units(&self) -> u64 {
        self.units
    }
}

impl Entry {
    fn of(seq: u64, stored: &SessionMessage, lowered: &[Message]) -> Self {
        let sizes: Vec<_> = lowered.iter().map(json_size).collect();
        let counted = lowered.iter().zip(&sizes);
        let counted = counted.map(|(message, size)| counted_units(message, size.units));
        let counted: Vec<_> = counted.collect();
        // With the comma between each and the next.
        let units = counted.iter().map(|units| units + 1).sum();
        Self {
            seq,
            messages: lowered.len(),
            bytes: sizes.iter().map(|size| size.bytes).sum(),
            units,
            is_answer: matches!(stored, SessionMessage::Assistant(_)),
            is_user: matches!(stored, SessionMessage::User { .. }),
            outputs: Outputs::of(stored, lowered.iter().zip(counted)),
        }
    }

    fn prunable(&self) -> u64 {
        self.outputs.as_ref().map_or(0, |outputs| outputs.tokens())
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
            calls_tools: true,
            delegates: false,
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
