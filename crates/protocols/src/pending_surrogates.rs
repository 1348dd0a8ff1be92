//! Joins characters that a server cut between two deltas of a block.

use std::sync::Arc;

use opencode_llm::canonical::event::{BlockId, LlmEvent};
use opencode_llm::surrogates::{Cut, joined};

/// The replacement of an unpaired surrogate.
const REPLACEMENT: char = '\u{fffd}';

/// The kind of block of a delta.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Reasoning,
    Input,
}

/// The high surrogates of one step that wait for the next delta.
#[derive(Default)]
pub(super) struct PendingSurrogates {
    /// The cut strings of the current frame.
    cuts: Vec<Cut>,
    waiting: Vec<(Kind, BlockId, u16)>,
}

impl PendingSurrogates {
    /// True if deltas need no change.
    pub(super) fn is_idle(&self) -> bool {
        self.cuts.is_empty() && self.waiting.is_empty()
    }

    /// Adds cut strings of the current frame.
    pub(super) fn expect(&mut self, cuts: Vec<Cut>) {
        self.cuts.extend(cuts);
    }

    /// Removes the cut strings of the current frame.
    pub(super) fn end_frame(&mut self) {
        self.cuts.clear();
    }

    /// Returns a delta with the waiting surrogate at its start, and without a surrogate at its end,
    /// which then waits.
    pub(super) fn join(&mut self, kind: Kind, id: &BlockId, mut text: String) -> String {
        if text.is_empty() {
            return text;
        }
        let cut = self.cuts.iter().find(|cut| cut.text == text);
        let (second, last) = cut.map_or((None, None), |cut| (cut.second, cut.first));
        if last.is_some() {
            text.pop();
        }
        if let Some(first) = self.take(kind, id) {
            match second.and_then(|second| joined(first, second)) {
                Some(whole) => {
                    text.replace_range(..REPLACEMENT.len_utf8(), whole.encode_utf8(&mut [0; 4]));
                }
                None => text.insert(0, REPLACEMENT),
            }
        }
        if let Some(last) = last {
            self.waiting.push((kind, Arc::clone(id), last));
        }
        text
    }

    /// Ends a block. Returns the replacement of its waiting surrogate.
    pub(super) fn end(&mut self, kind: Kind, id: &BlockId) -> Option<LlmEvent> {
        self.take(kind, id)?;
        delta(kind, Arc::clone(id))
    }

    /// Ends all blocks. Returns the replacements of their waiting surrogates.
    pub(super) fn end_all(&mut self) -> Vec<LlmEvent> {
        let waiting = self.waiting.drain(..);
        waiting
            .filter_map(|(kind, id, _)| delta(kind, id))
            .collect()
    }

    fn take(&mut self, kind: Kind, id: &BlockId) -> Option<u16> {
        let mut waiting = self.waiting.iter();
        let at = waiting.position(|(of, known, _)| *of == kind && known == id)?;
        Some(self.waiting.swap_remove(at).2)
    }
}

/// Returns the delta with a replacement. Tool input that ends within a character needs none,
/// because parsing it fails.
fn delta(kind: Kind, id: BlockId) -> Option<LlmEvent> {
    let (text, provider_metadata) = (REPLACEMENT.to_string(), None);
    match kind {
        Kind::Text => Some(LlmEvent::TextDelta {
            id,
            text,
            provider_metadata,
        }),
        Kind::Reasoning => Some(LlmEvent::ReasoningDelta {
            id,
            text,
            provider_metadata,
        }),
        Kind::Input => None,
    }
}
