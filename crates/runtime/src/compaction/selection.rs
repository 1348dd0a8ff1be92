//! What of a Session History a checkpoint stands for, and what it keeps in its own words.

use opencode_schema::message::SessionMessage;

use super::serialise::{text, whole_units};
use crate::history::estimate::{UNITS_PER_TOKEN, json_units, tokens, units};

/// Between two messages, and two parts of the conversation.
pub(super) const GAP: &str = "\n\n";

/// A Session History, parted for a checkpoint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The summary that stands for everything before, once there was a checkpoint.
    pub(super) prior: Option<String>,
    /// What the next summary takes in, oldest first.
    pub(super) older: Vec<Piece>,
    /// What stays in its own words.
    pub(super) recent: String,
}

/// A message, or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// UTF-16 units of it inside JSON.
    pub(super) units: u64,
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        let units = json_units(&text);
        Self { text, units }
    }
}

/// The pieces of what was put together of several.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    text.split(GAP).map(|piece| piece.to_owned().into())
}

impl Selection {
    /// Keeps the newest `keep` tokens. Gives nothing where a summary would stand for nothing: for a
    /// history that is no longer than that and holds no checkpoint that could take in what follows
    /// it, and where nothing was ever answered, however long the input is that waits.
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
                // What the model was told before, in an epoch that could not be replaced, was taken in.
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

/// Whether it is an answer that came to its end.
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

/// Parts a history without a checkpoint. Nothing if all of it stays.
///
/// It may be that all of it fits only because outputs are cut here and files named, and not in a
/// request. A session where that is nothing to compact could not go on, so of such a history the
/// newer half stays.
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

/// Tokens of texts in all.
fn size_of(items: impl IntoIterator<Item = impl AsRef<str>>) -> u64 {
    let items = items.into_iter();
    items.map(|item| tokens(units(item.as_ref()))).sum()
}

/// The newest items of `keep` tokens in all behind the older ones. Of the one that does not fit, the
/// end is kept as far as it fits: it may hold the input that waits.
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

/// Where the last `most` UTF-16 units of a text begin.
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

    fn said(text: &str) -> SessionMessage {
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

    /// An answer that ran a tool, whose output is so long.
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

    // "[User]: " and eight letters are four tokens, "[Assistant]: " and three are four as well.
    fn one() -> SessionMessage {
        user("12345678")
    }

    fn two() -> SessionMessage {
        said("123")
    }

    #[test]
    fn the_newest_stay_and_the_older_are_taken_in() {
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
            // Of the one that does not fit, the end stays.
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
        fn nothing_is_lost_or_doubled_and_what_stays_is_bounded(
            items in prop::collection::vec("[a-zä😀]{1,40}", 0..8),
            keep in 0..40_u64,
        ) {
            let whole = items.concat();
            let (older, recent) = split(items.clone(), keep);
            prop_assert_eq!(older.concat() + &recent.concat(), whole);
            let stays = size_of(&recent);
            prop_assert!(stays <= keep);
            // As much stays as may.
            let all = size_of(&items);
            prop_assert!(stays + 1 >= keep.min(all), "{stays} of {keep}");
        }
    }

    #[test]
    fn a_text_is_parted_between_characters() {
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
    fn an_earlier_checkpoint_is_merged_with_what_follows_it() {
        for (recent, older) in [("", "[User]: 12345678"), ("r", "r\n\n[User]: 12345678")] {
            assert_eq!(
                Selection::of(&[checkpoint(recent), one(), two()], 4),
                selection(Some("s"), older, "[Assistant]: 123")
            );
        }
        // What stands before it, because the epoch could not be replaced yet, was taken in by it.
        assert_eq!(
            Selection::of(&[update(), checkpoint("r"), one(), two()], 4),
            selection(Some("s"), "r\n\n[User]: 12345678", "[Assistant]: 123")
        );
        // What follows it may stay, whether or not it was answered.
        assert_eq!(
            Selection::of(&[checkpoint("r"), one()], 100),
            selection(Some("s"), "r", "[User]: 12345678")
        );
    }

    #[test]
    fn what_is_long_only_in_the_request_is_summarised_all_the_same() {
        let cut = format!(
            "[Assistant tool call]: read({{}})\n[Tool result]: {}\n[truncated]",
            "x".repeat(2_000)
        );
        // All in all 523 tokens, of which 262 stay: the last message, and 258.
        let (older, newer) = cut.split_at(cut.len() - 4 * 258);
        let history = [one(), read(4_000), one()];
        // All of it fits as it would be kept, and does not as it is sent.
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
    fn pictures_are_as_long_as_they_are_for_the_model() {
        let picture = |bytes: usize| {
            message(json!({
                "id": "msg_u", "time": { "created": 0 }, "text": "see", "type": "user",
                "files": [{ "uri": format!("data:,{}", "A".repeat(bytes)), "mime": "image/png",
                            "name": "a.png" }],
            }))
        };
        let line = "[User]: see\n[Attached image/png: a.png]";
        for bytes in [6_394, 1_000_000] {
            // 1,600 tokens and the ten of its line, and four of the answer.
            let history = [picture(bytes), two()];
            assert_eq!(Selection::of(&history, 1_614), None);
            let (older, recent) = line.split_at(line.len() - 12);
            assert_eq!(
                Selection::of(&history, 1_613),
                selection(None, older, &format!("{recent}\n\n[Assistant]: 123"))
            );
        }
        // A small one is.
        assert_eq!(Selection::of(&[picture(1_000), two()], 300), None);
    }

    #[test]
    fn a_summary_must_stand_for_something() {
        for (history, keep) in [
            (vec![], 0),
            (vec![switch()], 0),
            (vec![one(), two()], 8),
            // Nothing was ever answered.
            (vec![one()], 0),
            (vec![one(), cut_off("123"), one()], 0),
            (vec![one(), failed("123"), one()], 0),
            // Nothing follows it.
            (vec![checkpoint("r")], 0),
            (vec![checkpoint("r"), switch()], 0),
            (vec![update(), checkpoint("r")], 0),
        ] {
            assert_eq!(Selection::of(&history, keep), None, "{history:?}");
        }
    }
}
