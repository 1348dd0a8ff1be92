//! Characters that a server cut between two deltas of a block.

use std::sync::Arc;

use super::surrogates::{Cut, joined};
use crate::canonical::event::{BlockId, LlmEvent};

/// Stands for a half without its partner.
const REPLACEMENT: char = '\u{fffd}';

/// What a delta adds to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Reasoning,
    Input,
}

/// The halves of one step that wait for their partners.
#[derive(Default)]
pub(super) struct Halves {
    /// The strings of the frame at hand that were cut.
    cuts: Vec<Cut>,
    waiting: Vec<(Kind, BlockId, u16)>,
}

impl Halves {
    /// Whether deltas are as they seem.
    pub(super) fn is_idle(&self) -> bool {
        self.cuts.is_empty() && self.waiting.is_empty()
    }

    /// Takes what was cut of the frame at hand.
    pub(super) fn expect(&mut self, cuts: Vec<Cut>) {
        self.cuts.extend(cuts);
    }

    /// Forgets the frame at hand.
    pub(super) fn end_frame(&mut self) {
        self.cuts.clear();
    }

    /// A delta with the half that waited for it, and without one that waits for the next.
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

    /// What stands for the half of a block that ends.
    pub(super) fn end(&mut self, kind: Kind, id: &BlockId) -> Option<LlmEvent> {
        self.take(kind, id)?;
        delta(kind, Arc::clone(id))
    }

    /// What stands for the halves of all blocks.
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

/// Input that ends within a character is no JSON, which is said where it is parsed.
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
