//! A history that is larger than one request is summarised in parts: the summary of the oldest part is
//! merged with the next part, until no part is left.
//!
//! The model's window gives the maximum size of a request, until the provider refuses a request
//! because of its size. The window is then assumed to be half of the size of that request.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use opencode_llm::{Message, Part as MessagePart};
use opencode_schema::message::ErrorKind;

use super::attempt::Failure;
use super::prompt::prompt;
use super::selection::{Piece, Selection, end_of, pieces};
use crate::history::estimate::{Budget, UNITS_PER_TOKEN, json_units, json_units_of, tokens};
use crate::hooks::SummaryInstructions;
use crate::json::json_size;

/// Maximum number of parts of one attempt.
const MAX_PARTS: usize = 64;

/// Maximum number of requests of one attempt that are refused because of their size. Each refusal
/// halves the size of the next request.
const MAX_REFUSALS: usize = 8;

/// Divisor of the window that gives the maximum size of a part's summary: the next request contains
/// the summary again, and must have room for more.
const ANSWER_SHARE: u64 = 4;

/// Minimum number of tokens of material that a request must have room for to be useful.
const MIN_ROOM: u64 = 512;

/// UTF-16 units of the gap between two pieces, as JSON.
const GAP_UNITS: u64 = 4;

/// Maximum UTF-16 units of the line that replaces the middle of a cut text, as JSON.
const CUT_UNITS: u64 = 64;

/// The history that is not summarised yet.
pub(super) struct Parts {
    prior: Option<String>,
    older: VecDeque<Piece>,
    recent: String,
    budget: Budget,
    instructions: SummaryInstructions,
    /// UTF-16 units of a request without material in the form of a merge, the longest form, as JSON.
    frame: u64,
    made: usize,
    refused: usize,
}

/// The material of one request for a summary.
pub(super) struct Part {
    pub(super) messages: Arc<Vec<Message>>,
    /// Maximum number of tokens of its summary.
    pub(super) answer: u64,
    /// True if its summary covers everything.
    pub(super) is_last: bool,
    pieces: usize,
}

/// The number of pieces in a part.
struct PieceCount {
    whole: usize,
    /// UTF-16 units of room for one more piece, which is cut.
    cut: Option<u64>,
}

impl PieceCount {
    fn pieces(&self) -> usize {
        self.whole + usize::from(self.cut.is_some())
    }
}

impl Parts {
    /// Fails if requests within the budget cannot contain all of the material.
    pub(super) fn of(
        selection: Selection,
        budget: Budget,
        instructions: SummaryInstructions,
    ) -> Result<Self, Failure> {
        let parts = Self {
            prior: selection.prior,
            older: selection.older.into(),
            recent: selection.recent,
            budget,
            frame: json_size(&messages(Some(""), &[], &instructions)).units,
            instructions,
            made: 0,
            refused: 0,
        };
        parts.check()?;
        Ok(parts)
    }

    /// Returns all remaining material if it fits in one request, otherwise as much as fits.
    pub(super) fn next(&self) -> Part {
        if self.is_one_request() {
            let all = PieceCount {
                whole: self.older.len(),
                cut: None,
            };
            return self.part(self.prior.as_deref(), all, self.budget.summary);
        }
        let answer = self.answer();
        let room = self.room();
        // A longer prior summary would leave no room for new material.
        let prior = self.prior.as_deref().map(|prior| cut(prior, room / 2));
        let left = room - prior.as_deref().map_or(0, json_units);
        self.part(prior.as_deref(), self.piece_count(0, left), answer)
    }

    /// Replaces the summarised pieces by the summary of the newest part.
    pub(super) fn merge(&mut self, part: &Part, summary: String) {
        self.older.drain(..part.pieces);
        self.prior = Some(summary);
        self.made += 1;
    }

    /// Notes that the provider refused the newest part because of its size. Returns true if a smaller
    /// request is useful.
    pub(super) fn refuse(&mut self, part: &Part) -> bool {
        self.refused += 1;
        self.budget.window = (size(&part.messages) + part.answer) / 2;
        // The verbatim history must fit as well.
        let most = self.budget.window / 2 * UNITS_PER_TOKEN;
        let newest = self.recent.split_off(end_of(&self.recent, most));
        let older = std::mem::replace(&mut self.recent, newest);
        if !older.is_empty() {
            self.older.extend(pieces(&older));
        }
        self.refused <= MAX_REFUSALS && self.check().is_ok()
    }

    /// Returns the history that stays verbatim.
    pub(super) fn into_recent(self) -> String {
        self.recent
    }

    fn check(&self) -> Result<(), Failure> {
        if self.is_one_request() {
            return Ok(());
        }
        let Budget { window, .. } = self.budget;
        let room = self.room();
        let message = if room < MIN_ROOM * UNITS_PER_TOKEN {
            format!(
                "the model's window of {window} tokens has no room for a request for a summary. A model with a larger one can be asked"
            )
        } else if self.made + self.count(room - room / 2) > MAX_PARTS {
            let size = tokens(self.units());
            format!(
                "what is to be summarised has about {size} tokens, more than {MAX_PARTS} requests to a model with a window of {window} can take. A model with a larger one can be asked"
            )
        } else {
            return Ok(());
        };
        Err(Failure::new(ErrorKind::ContextOverflow, message))
    }

    /// True if all remaining material fits in one request, with a summary of maximum length.
    fn is_one_request(&self) -> bool {
        let frame = json_size(&messages(self.prior.as_deref(), &[], &self.instructions)).units;
        let size = tokens(frame + self.units());
        self.budget.has_room_for_summary_of(size)
    }

    /// Returns the UTF-16 units of the conversation, as JSON.
    fn units(&self) -> u64 {
        let units = self.older.iter().map(|piece| piece.units + GAP_UNITS);
        units.sum::<u64>().saturating_sub(GAP_UNITS)
    }

    /// Returns the maximum number of tokens of the summary of a part.
    fn answer(&self) -> u64 {
        self.budget.summary.min(self.budget.window / ANSWER_SHARE)
    }

    /// Returns the UTF-16 units of material that fit in the request for a part, as JSON.
    fn room(&self) -> u64 {
        let most = (self.budget.window - self.answer()) * UNITS_PER_TOKEN;
        most.saturating_sub(self.frame)
    }

    /// Returns the filling of a part that begins with piece `from` and has `room` units. A piece that is
    /// longer than any part is cut to the remaining room, if at least half of the room remains.
    fn piece_count(&self, from: usize, room: u64) -> PieceCount {
        let (mut whole, mut left) = (0, room);
        for piece in self.older.range(from..) {
            let Some(rest) = left.checked_sub(piece.units + GAP_UNITS) else {
                let is_longest = piece.units > self.room() && left >= room / 2;
                let cut = (whole == 0 || is_longest).then_some(left);
                return PieceCount { whole, cut };
            };
            (whole, left) = (whole + 1, rest);
        }
        PieceCount { whole, cut: None }
    }

    /// Returns the number of parts with `room` units each. More room never gives more parts.
    fn count(&self, room: u64) -> usize {
        let (mut parts, mut from) = (0, 0);
        while from < self.older.len() {
            (parts, from) = (parts + 1, from + self.piece_count(from, room).pieces());
        }
        parts
    }

    /// Builds a part from the oldest pieces.
    fn part(&self, prior: Option<&str>, piece_count: PieceCount, answer: u64) -> Part {
        let pieces = piece_count.pieces();
        let mut oldest = self.older.iter().take(pieces).map(|piece| &*piece.text);
        let mut conversation: Vec<_> = oldest.by_ref().take(piece_count.whole).collect();
        let last = piece_count.cut.zip(oldest.next());
        let last = last.map(|(room, text)| cut(text, room));
        conversation.extend(last.as_deref());
        Part {
            messages: Arc::new(messages(prior, &conversation, &self.instructions)),
            answer,
            is_last: pieces == self.older.len(),
            pieces,
        }
    }
}

/// Returns the tokens of a request.
fn size(messages: &[Message]) -> u64 {
    tokens(json_size(messages).units)
}

fn messages(
    prior: Option<&str>,
    conversation: &[&str],
    instructions: &SummaryInstructions,
) -> Vec<Message> {
    let text = prompt(prior, conversation, instructions);
    vec![Message::user([MessagePart::text(text)])]
}

/// Returns a text, or its beginning and end in `most` UTF-16 units as JSON, and the omitted length.
fn cut(text: &str, most: u64) -> Cow<'_, str> {
    if json_units(text) <= most {
        return text.into();
    }
    let half = most.saturating_sub(CUT_UNITS) / 2;
    let begins = text.char_indices().map(|(at, it)| (at + it.len_utf8(), it));
    let begin = furthest(begins, half).unwrap_or_default();
    let ends = text.char_indices().rev();
    let end = furthest(ends, half).unwrap_or(text.len());
    let missing = text[begin..end].chars().count();
    let (begin, end) = (&text[..begin], &text[end..]);
    format!("{begin}\n[truncated: {missing} characters]\n{end}").into()
}

/// Returns the last of these positions that is reached within `most` units.
fn furthest(places: impl Iterator<Item = (usize, char)>, most: u64) -> Option<usize> {
    let mut taken = 0;
    let reached = places.take_while(|(_, character)| {
        taken += json_units_of(*character);
        taken <= most
    });
    reached.last().map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(texts: &[String], recent: &str, window: u64) -> Result<Parts, Failure> {
        let selection = Selection {
            prior: None,
            older: texts.iter().cloned().map(Piece::from).collect(),
            recent: recent.to_owned(),
        };
        let budget = Budget {
            window,
            reserve: 0,
            summary: 1_000,
        };
        Parts::of(selection, budget, SummaryInstructions::default())
    }

    /// Returns all parts. Each summary has `summary` letters.
    fn summarised(mut parts: Parts, summary: usize) -> Vec<Part> {
        let mut made = Vec::new();
        loop {
            let part = parts.next();
            parts.merge(&part, "s".repeat(summary));
            made.push(part);
            if made.last().is_some_and(|part| part.is_last) {
                return made;
            }
        }
    }

    fn text_of(part: &Part) -> &str {
        let [message] = &part.messages[..] else {
            panic!("a request has one message")
        };
        let [MessagePart::Text(text)] = &message.content[..] else {
            panic!("it is text")
        };
        &text.text
    }

    fn conversation(part: &Part) -> &str {
        let (_, text) = text_of(part).split_once("<conversation>\n").unwrap();
        text.split_once("\n</conversation>").unwrap().0
    }

    #[test]
    fn a_history_that_fits_is_one_request() {
        let text = "x".repeat(20_000);
        let none = SummaryInstructions::default();
        let whole = prompt(None, &[&text], &none);
        // The request and the summary.
        let window = size(&messages(None, &[&text], &none)) + 1_000;
        let one = summarised(parts(std::slice::from_ref(&text), "", window).unwrap(), 1);
        let [part] = &one[..] else {
            panic!("{} parts", one.len())
        };
        assert_eq!((text_of(part), part.answer), (&*whole, 1_000));
        let halves = [text[..10_000].to_owned(), text[10_000..].to_owned()];
        assert_eq!(
            summarised(parts(&halves, "", window - 1).unwrap(), 1).len(),
            2
        );
    }

    #[test]
    fn a_long_text_is_cut_in_its_middle() {
        for (text, most, expected) in [
            ("short".to_owned(), 5, "short"),
            (
                "a".repeat(100),
                74,
                "aaaaa\n[truncated: 90 characters]\naaaaa",
            ),
            (
                "ä\"".repeat(50),
                74,
                "ä\"ä\n[truncated: 94 characters]\n\"ä\"",
            ),
            (
                "😀".repeat(50),
                74,
                "😀😀\n[truncated: 46 characters]\n😀😀",
            ),
        ] {
            assert_eq!(cut(&text, most), expected);
        }
    }

    #[test]
    fn a_history_that_needs_too_many_requests_is_refused() {
        let texts = vec!["x".repeat(4_000); 300];
        let failed = parts(&texts, "", 4_000).err().map(|it| it.message);
        assert_eq!(
            failed.as_deref(),
            Some(
                "what is to be summarised has about 300299 tokens, more than 64 requests to a model with a window of 4000 can take. A model with a larger one can be asked"
            )
        );
        let made = summarised(parts(&texts, "", 12_000).unwrap(), 8_000);
        assert!((30..=64).contains(&made.len()), "{}", made.len());
        let failed = parts(&texts, "", 1_200).err().map(|it| it.message);
        assert_eq!(
            failed.as_deref(),
            Some(
                "the model's window of 1200 tokens has no room for a request for a summary. A model with a larger one can be asked"
            )
        );
    }

    #[test]
    fn each_refusal_halves_the_part_and_the_rest() {
        let recent = "r".repeat(20_000);
        let mut asked = parts(&["x".repeat(100_000)], &recent, 0).unwrap();
        // Tokens of the request, tokens of the answer, and letters that stay verbatim.
        let mut sizes = Vec::new();
        loop {
            let part = asked.next();
            sizes.push((size(&part.messages), part.answer, asked.recent.len()));
            if !asked.refuse(&part) {
                break;
            }
        }
        let expected = [
            (25_404, 1_000, 20_000),
            (12_117, 1_000, 20_000),
            (5_473, 1_000, 13_116),
            (2_342, 809, 6_472),
            (1_097, 393, 3_148),
        ];
        assert_eq!(sizes, expected);
        // The limit holds for any length.
        let mut asked = parts(&["x".repeat(10_000_000)], "", 0).unwrap();
        let refusals = std::iter::from_fn(|| {
            let part = asked.next();
            asked.refuse(&part).then_some(())
        });
        assert_eq!(refusals.count(), MAX_REFUSALS);
    }

    #[test]
    fn a_message_longer_than_a_part_is_cut_to_the_free_space() {
        // Requests have room for about 17,500 units.
        let long = || "x".repeat(30_000);
        for (sizes, expected) in [
            (vec![30_000], vec![1]),
            (vec![5, 30_000, 5, 30_000, 5], vec![2, 2, 1]),
            (vec![16_000, 30_000], vec![1, 1]),
            // Here each piece fits in a part.
            (vec![5_000, 16_000, 5_000], vec![1, 1, 1]),
        ] {
            let texts: Vec<_> = sizes
                .iter()
                .map(|size| long()[..*size].to_owned())
                .collect();
            let made = summarised(parts(&texts, "", 6_000).unwrap(), 10);
            let pieces: Vec<_> = made.iter().map(|part| part.pieces).collect();
            assert_eq!(pieces, expected, "{sizes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn every_part_fits_and_all_parts_together_are_complete(
            sizes in prop::collection::vec(1..12_000_usize, 1..40),
            character in prop::sample::select(vec!['x', '"', 'ä', '😀', '\u{1}']),
            window in 8_000..40_000_u64,
            summary in 1..20_000_usize,
        ) {
            let texts: Vec<_> = sizes.iter().enumerate()
                .map(|(at, size)| format!("{at}:{}", character.to_string().repeat(*size)))
                .collect();
            let Ok(asked) = parts(&texts, "", window) else {
                return Ok(());
            };
            let room = asked.room();
            let most = asked.count(room - room / 2).max(1);
            let made = summarised(asked, summary);
            prop_assert!(made.len() <= most.min(MAX_PARTS), "{} of {most}", made.len());
            for part in &made {
                prop_assert!(size(&part.messages) + part.answer <= window);
            }
            let said: Vec<_> = made.iter().flat_map(|part| conversation(part).split("\n\n")).collect();
            prop_assert_eq!(said.len(), texts.len());
            for (said, text) in said.iter().zip(&texts) {
                let is_cut = said.contains("\n[truncated: ");
                prop_assert!(said == text || is_cut && text.starts_with(&said[..2]));
            }
        }
    }
}
