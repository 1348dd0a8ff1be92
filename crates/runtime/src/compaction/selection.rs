//! Selects the Session History that a checkpoint replaces, and the history that it keeps verbatim.

use opencode_schema::message::SessionMessage;

use super::serialise::{text, whole_units};
use crate::history::estimate::{UNITS_PER_TOKEN, json_units, tokens, units};

/// The gap between two messages, and between two parts of the conversation.
pub(super) const GAP: &str = "\n\n";

/// A Session History, divided for a checkpoint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The summary of the newest checkpoint, if there is one.
    pub(super) prior: Option<String>,
    /// The pieces that the next summary covers, oldest first.
    pub(super) older: Vec<Piece>,
    /// The text that stays verbatim.
    pub(super) recent: String,
}

/// A message, or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Its UTF-16 units inside JSON.
    pub(super) units: u64,
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        let units = json_units(&text);
        Self { text, units }
    }
}

/// Splits a text that was joined from several pieces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    text.split(GAP).map(|piece| piece.to_owned().into())
}

impl Selection {
    /// Keeps the newest `keep` tokens. Returns `None` if there is nothing to summarise: for a
    /// history without a checkpoint that has at most `keep` tokens or no completed answer, however long its
    /// pending input is, and for a history with a checkpoint and no text after it.
    pub(crate) fn of<'m>(
        history: impl IntoIterator<Item = &'m SessionMessage>,
        keep: u64,
    ) -> Option<Self> {
        let (mut checkpoint, mut is_answered, mut messages) = (None, false, Vec::new());
        for message in history {
            if let SessionMessage::Compaction {
                summary, recent, ..
            } = message
            {
                checkpoint = Some((summary, recent));
                // The summary covers the earlier messages, which remain if the epoch could not be replaced.
                messages.clear();
            } else {
                is_answered |= is_answer(message);
                messages.push(message);
            }
        }
        let Some((summary, before)) = checkpoint else {
            let (older, recent) = is_answered.then(|| part(&messages, keep))??;
            let older = older.into_iter().map(Piece::from).collect();
            return Some(Self::new(None, older, &recent));
        };
        let items = items(&messages);
        if items.is_empty() {
            return None;
        }
        let (older, recent) = split(items, keep);
        let before = (!before.is_empty()).then(|| pieces(before));
        let before = before.into_iter().flatten();
        let older = before.chain(older.into_iter().map(Piece::from)).collect();
        Some(Self::new(Some(summary.clone()), older, &recent))
    }

    fn new(prior: Option<String>, older: Vec<Piece>, recent: &[String]) -> Self {
        Self {
            prior,
            older,
            recent: recent.join(GAP),
        }
    }
}

/// True for a completed answer.
fn is_answer(message: &SessionMessage) -> bool {
    let SessionMessage::Assistant(answer) = message else {
        return false;
    };
    answer.finish.is_some() && answer.error.is_none()
}

fn items(messages: &[&SessionMessage]) -> Vec<String> {
    let items = messages.iter().map(|message| text(message));
    items.filter(|item| !item.is_empty()).collect()
}

/// Divides a history without a checkpoint. Returns `None` if all of it stays verbatim.
///
/// Outputs are cut here and files are only named, so a history may fit here although its request is
/// too large. A session could not continue if such a history were not compacted, so only its newer
/// half stays verbatim.
fn part(messages: &[&SessionMessage], keep: u64) -> Option<(Vec<String>, Vec<String>)> {
    let (older, recent) = split(items(messages), keep);
    if !older.is_empty() {
        return Some((older, recent));
    }
    let whole = messages.iter().map(|message| tokens(whole_units(message)));
    if whole.sum::<u64>() <= keep {
        return None;
    }
    let half = size_of(&recent).div_ceil(2);
    Some(split(recent, half))
}

/// Returns the sum of the tokens of texts.
fn size_of(items: impl IntoIterator<Item = impl AsRef<str>>) -> u64 {
    let items = items.into_iter();
    items.map(|item| tokens(units(item.as_ref()))).sum()
}

/// Splits off the newest items of `keep` tokens in total. The end of the first item that does not fit
/// is kept as far as it fits, because it may contain the pending input.
fn split(mut items: Vec<String>, keep: u64) -> (Vec<String>, Vec<String>) {
    let (mut left, mut from) = (keep, items.len());
    while let Some(fits) = from
        .checked_sub(1)
        .and_then(|at| left.checked_sub(tokens(units(&items[at]))))
    {
        (left, from) = (fits, from - 1);
    }
    let mut recent = items.split_off(from);
    if let Some(parted) = items.last_mut().filter(|_| left > 0) {
        let end = parted.split_off(end_of(parted, left.saturating_mul(UNITS_PER_TOKEN)));
        recent.insert(0, end);
    }
    (items, recent)
}

/// Returns the position at which the last `most` UTF-16 units of a text begin.
pub(super) fn end_of(text: &str, most: u64) -> usize {
    let mut taken = 0;
    for (at, character) in text.char_indices().rev() {
        taken += character.len_utf16() as u64;
        if taken > most {
            return at + character.len_utf8();
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn message(value: serde_json::Value) -> SessionMessage {
        serde_json::from_value(value).expect("a message of the contract")
    }

    fn user(text: &str) -> SessionMessage {
        message(json!({ "id": "msg_u", "time": { "created": 0 }, "text": text, "type": "user" }))
    }

    fn assistant_text(text: &str) -> SessionMessage {
        message(json!({
            "id": "msg_a", "time": { "created": 0, "completed": 1 }, "type": "assistant",
            "agent": "build", "model": { "id": "m", "providerID": "p" },
            "content": [{ "type": "text", "id": "t", "text": text }], "finish": "stop",
        }))
    }

    fn failed(text: &str) -> SessionMessage {
        message(json!({
            "id": "msg_a", "time": { "created": 0, "completed": 1 }, "type": "assistant",
            "agent": "build", "model": { "id": "m", "providerID": "p" },
            "content": [{ "type": "text", "id": "t", "text": text }], "finish": "error",
            "error": { "type": "unknown", "message": "lost" },
        }))
    }

    /// Returns an answer that ran a tool with `output` characters of output.
    fn read(output: usize) -> SessionMessage {
        message(json!({
            "id": "msg_a", "time": { "created": 0, "completed": 1 }, "type": "assistant",
            "agent": "build", "model": { "id": "m", "providerID": "p" },
            "content": [{ "type": "tool", "id": "1", "name": "read", "time": { "created": 0 },
                          "state": { "status": "completed", "input": {}, "structured": {}, "content": [
                              { "type": "text", "text": "x".repeat(output) }] } }],
            "finish": "tool-calls",
        }))
    }

    fn cut_off(text: &str) -> SessionMessage {
        message(json!({
            "id": "msg_a", "time": { "created": 0 }, "type": "assistant",
            "agent": "build", "model": { "id": "m", "providerID": "p" },
            "content": [{ "type": "text", "id": "t", "text": text }],
        }))
    }

    fn checkpoint(recent: &str) -> SessionMessage {
        message(json!({
            "id": "msg_c", "time": { "created": 0 }, "type": "compaction", "reason": "auto",
            "summary": "s", "recent": recent,
        }))
    }

    fn update() -> SessionMessage {
        message(json!({ "id": "msg_m", "time": { "created": 0 }, "text": "now", "type": "system" }))
    }

    fn switch() -> SessionMessage {
        message(json!({
            "id": "msg_s", "time": { "created": 0 }, "type": "agent-switched", "agent": "plan",
        }))
    }

    fn selection(prior: Option<&str>, older: &str, recent: &str) -> Option<Selection> {
        Some(Selection {
            prior: prior.map(str::to_owned),
            older: pieces(older).collect(),
            recent: recent.to_owned(),
        })
    }

    // "[User]: " and eight letters are four tokens. "[Assistant]: " and three letters are four tokens, too.
    fn one() -> SessionMessage {
        user("12345678")
    }

    fn two() -> SessionMessage {
        assistant_text("123")
    }

    #[test]
    fn older_turns_are_summarised_and_the_newest_stay() {
        let turns = [one(), two(), switch(), user("abcdefgh")];
        let all = "[User]: 12345678\n\n[Assistant]: 123\n\n[User]: abcdefgh";
        for (keep, expected) in [
            (12, None),
            (
                8,
                selection(
                    None,
                    "[User]: 12345678",
                    "[Assistant]: 123\n\n[User]: abcdefgh",
                ),
            ),
            (
                4,
                selection(
                    None,
                    "[User]: 12345678\n\n[Assistant]: 123",
                    "[User]: abcdefgh",
                ),
            ),
            // The end of the item that does not fit is kept.
            (
                5,
                selection(
                    None,
                    "[User]: 12345678\n\n[Assistant]:",
                    " 123\n\n[User]: abcdefgh",
                ),
            ),
            (
                2,
                selection(
                    None,
                    "[User]: 12345678\n\n[Assistant]: 123\n\n[User]: ",
                    "abcdefgh",
                ),
            ),
            (0, selection(None, all, "")),
        ] {
            assert_eq!(Selection::of(&turns, keep), expected, "{keep}");
        }
    }

    proptest! {
        #[test]
        fn every_message_is_selected_once_and_the_kept_part_is_bounded(
            items in prop::collection::vec("[a-zä😀]{1,40}", 0..8),
            keep in 0..40_u64,
        ) {
            let whole = items.concat();
            let (older, recent) = split(items.clone(), keep);
            prop_assert_eq!(older.concat() + &recent.concat(), whole);
            let stays = size_of(&recent);
            prop_assert!(stays <= keep);
            // The kept part is as large as possible.
            let all = size_of(&items);
            prop_assert!(stays + 1 >= keep.min(all), "{stays} of {keep}");
        }
    }

    #[test]
    fn a_text_is_split_between_characters() {
        for (text, most, expected) in [
            ("", 5, ""),
            ("abc", 5, "abc"),
            ("abc", 2, "bc"),
            ("äöü", 2, "öü"),
            ("a😀b", 2, "b"),
            ("a😀b", 3, "😀b"),
            ("abc", 0, ""),
        ] {
            assert_eq!(&text[end_of(text, most)..], expected, "{text} {most}");
        }
    }

    #[test]
    fn an_earlier_checkpoint_is_merged_with_later_messages() {
        for (recent, older) in [("", "[User]: 12345678"), ("r", "r\n\n[User]: 12345678")] {
            assert_eq!(
                Selection::of(&[checkpoint(recent), one(), two()], 4),
                selection(Some("s"), older, "[Assistant]: 123")
            );
        }
        // The checkpoint covers the messages before it, which remain if the epoch could not be replaced yet.
        assert_eq!(
            Selection::of(&[update(), checkpoint("r"), one(), two()], 4),
            selection(Some("s"), "r\n\n[User]: 12345678", "[Assistant]: 123")
        );
        // Messages after the checkpoint may stay verbatim, answered or not.
        assert_eq!(
            Selection::of(&[checkpoint("r"), one()], 100),
            selection(Some("s"), "r", "[User]: 12345678")
        );
    }

    #[test]
    fn a_history_that_is_long_only_in_the_request_is_summarised() {
        let cut = format!(
            "[Assistant tool call]: read({{}})\n[Tool result]: {}\n[truncated]",
            "x".repeat(2_000)
        );
        // In total 523 tokens, of which 262 stay: the last message, and 258.
        let (older, newer) = cut.split_at(cut.len() - 4 * 258);
        let history = [one(), read(4_000), one()];
        // The history fits in its kept form, but not in the form of a request.
        assert_eq!(
            Selection::of(&history, 600),
            selection(
                None,
                &format!("[User]: 12345678\n\n{older}"),
                &format!("{newer}\n\n[User]: 12345678"),
            )
        );
        assert_eq!(Selection::of(&history, 1_100), None);
        assert_eq!(Selection::of(&[one(), read(2_000), one()], 600), None);
    }

    #[test]
    fn pictures_count_with_the_size_that_the_model_sees() {
        let picture = |bytes: usize| {
            message(json!({
                "id": "msg_u", "time": { "created": 0 }, "text": "see", "type": "user",
                "files": [{ "uri": format!("data:,{}", "A".repeat(bytes)), "mime": "image/png",
                            "name": "a.png" }],
            }))
        };
        let line = "[User]: see\n[Attached image/png: a.png]";
        for bytes in [6_394, 1_000_000] {
            // 1,600 tokens, ten for its line, and four for the answer.
            let history = [picture(bytes), two()];
            assert_eq!(Selection::of(&history, 1_614), None);
            let (older, recent) = line.split_at(line.len() - 12);
            assert_eq!(
                Selection::of(&history, 1_613),
                selection(None, older, &format!("{recent}\n\n[Assistant]: 123"))
            );
        }
        // A small picture counts with its actual size.
        assert_eq!(Selection::of(&[picture(1_000), two()], 300), None);
    }

    #[test]
    fn a_history_without_a_completed_answer_is_not_summarised() {
        for (history, keep) in [
            (vec![], 0),
            (vec![switch()], 0),
            (vec![one(), two()], 8),
            // There is no completed answer.
            (vec![one()], 0),
            (vec![one(), cut_off("123"), one()], 0),
            (vec![one(), failed("123"), one()], 0),
            // No text follows the checkpoint.
            (vec![checkpoint("r")], 0),
            (vec![checkpoint("r"), switch()], 0),
            (vec![update(), checkpoint("r")], 0),
        ] {
            assert_eq!(Selection::of(&history, keep), None, "{history:?}");
        }
    }
}
