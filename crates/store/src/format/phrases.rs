//! Compression of frequent phrases in payloads and metadata: one character stands for each phrase.
//!
//! JSON text contains no control characters: within strings they are escaped, and compact JSON has
//! none between values. So each control character can represent a phrase at any position, and
//! expanding the phrases restores the exact bytes. NUL is excluded because it marks the position of
//! a repeated value. Text without control characters, which earlier versions stored, stays
//! unchanged.

use std::borrow::Cow;

/// The phrases of the characters from U+0001 on. Stored databases use them, so a phrase must never
/// change or move. A phrase that is a prefix of another comes after the longer one.
pub(crate) struct Phrases(&'static [&'static str]);

/// Phrases of payloads. No character is left for another phrase.
pub(crate) const PAYLOAD: Phrases = Phrases(&[
    r#"{"messageID":"msg_"#,
    r#"","prompt":{"text":""#,
    r#""},"delivery":"steer"}"#,
    r#""},"delivery":"queue"}"#,
    r#"{"assistantMessageID":"msg_"#,
    r#"","agent":""#,
    r#"","model":{"id":""#,
    r#"","providerID":""#,
    r#"","variant":""#,
    r#""textID":"text-0""#,
    r#","text":""#,
    r#""reasoningID":"reasoning-0""#,
    r#""finish":"stop","cost":"#,
    r#""finish":"tool-calls","cost":"#,
    r#","tokens":{"input":"#,
    r#","output":"#,
    r#","reasoning":"#,
    r#","cache":{"read":"#,
    r#","write":"#,
    r#""callID":"call_"#,
    r#"","name":""#,
    r#"","tool":""#,
    r#","provider":{"executed":false}}"#,
    r#","structured":{"#,
    r#","content":[{"type":"text","text":""#,
    r#","content":[],"outputPaths":[]"#,
    r#","outputPaths":[]"#,
    r#","error":{"type":"unknown","message":""#,
    r#","cause":{"kind":""#,
    r#","retryable":false"#,
    r#","input":{"#,
]);

/// Phrases of metadata, which every step stores for its request.
pub(crate) const METADATA: Phrases = Phrases(&[
    r#"{"prefix":{"sha256":""#,
    r#"","bytes":"#,
    r#","reused":"#,
    r#","reason":""#,
    r#"","agent":""#,
    r#","agent":""#,
    r#"","baseline":""#,
    r#"","tools":""#,
]);

impl Phrases {
    /// Replaces every phrase with its character.
    pub(crate) fn shorten(&self, text: &str) -> String {
        let mut short = String::with_capacity(text.len());
        let mut rest = text;
        // Every phrase begins with one of these characters.
        while let Some(at) = rest.find(['{', '"', ',']) {
            short.push_str(&rest[..at]);
            rest = &rest[at..];
            let found = self.0.iter().zip('\u{1}'..).find_map(|(phrase, stands)| {
                let behind = rest.strip_prefix(phrase)?;
                Some((stands, behind))
            });
            let (next, behind) = found.unwrap_or_else(|| {
                let (one, behind) = rest.split_at(1);
                (char::from(one.as_bytes()[0]), behind)
            });
            short.push(next);
            rest = behind;
        }
        short.push_str(rest);
        short
    }

    /// Expands every character to its phrase.
    pub(crate) fn lengthen<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut rest = text;
        let mut long = String::new();
        while let Some(at) = rest.bytes().position(|byte| self.phrase(byte).is_some()) {
            long.push_str(&rest[..at]);
            long.push_str(self.phrase(rest.as_bytes()[at]).unwrap_or_default());
            rest = &rest[at + 1..];
        }
        if long.is_empty() {
            return Cow::Borrowed(text);
        }
        long.push_str(rest);
        Cow::Owned(long)
    }

    fn phrase(&self, byte: u8) -> Option<&'static str> {
        let at = usize::from(byte).checked_sub(1)?;
        self.0.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frequent_phrases_take_one_character() {
        for (long, short) in [
            (
                r#"{"messageID":"msg_a","prompt":{"text":"Hi, \"you\""},"delivery":"steer"}"#,
                "\u{1}a\u{2}Hi, \\\"you\\\"\u{3}",
            ),
            (
                r#"{"assistantMessageID":"msg_a","agent":"build","model":{"id":"m","providerID":"p"}}"#,
                "\u{5}a\u{6}build\u{7}m\u{8}p\"}}",
            ),
            (
                r#""finish":"stop","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}"#,
                "\u{d}0.5\u{f}1\u{10}2\u{11}3\u{12}4\u{13}5}}}",
            ),
            (r#""finish":"length"}"#, r#""finish":"length"}"#),
            ("", ""),
        ] {
            assert_eq!(PAYLOAD.shorten(long), short);
            assert_eq!(PAYLOAD.lengthen(short), long);
        }
        for (long, short) in [
            (
                r#"{"prefix":{"sha256":"0f","bytes":9,"reused":7,"reason":"tools","agent":"a","baseline":"b","tools":"c"}}"#,
                "\u{1}0f\u{2}9\u{3}7\u{4}tools\u{5}a\u{7}b\u{8}c\"}}",
            ),
            (
                r#"{"prefix":{"bytes":9,"agent":"a"}}"#,
                "{\"prefix\":{\"bytes\":9\u{6}a\"}}",
            ),
        ] {
            assert_eq!(METADATA.shorten(long), short);
            assert_eq!(METADATA.lengthen(short), long);
        }
    }

    #[test]
    fn longer_phrases_are_listed_before_their_prefixes() {
        for Phrases(phrases) in [PAYLOAD, METADATA] {
            // The control characters without NUL.
            assert!(phrases.len() < 32);
            for (at, phrase) in phrases.iter().enumerate() {
                let mut later = phrases[at + 1..].iter();
                assert_eq!(later.find(|it| it.starts_with(phrase)), None, "{phrase}");
                assert!(phrase.starts_with(['{', '"', ',']), "{phrase}");
            }
        }
    }

    /// Generates text without control characters from phrases, parts of phrases and other text.
    fn text() -> impl Strategy<Value = String> {
        let phrases = [PAYLOAD.0, METADATA.0].concat();
        let piece = prop_oneof![
            prop::sample::select(phrases.clone()).prop_map(str::to_owned),
            (prop::sample::select(phrases), 0_usize..8)
                .prop_map(|(phrase, cut)| phrase[cut..].to_owned()),
            "[^\\x01-\\x1f]{0,6}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_text_survives_the_round_trip(text in text()) {
            for phrases in [PAYLOAD, METADATA] {
                let short = phrases.shorten(&text);
                prop_assert!(short.len() <= text.len());
                prop_assert_eq!(phrases.lengthen(&short), &*text);
            }
        }
    }
}
