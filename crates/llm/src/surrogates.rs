//! Unpaired UTF-16 surrogates in JSON escapes.
//!
//! JSON escapes a character outside the Basic Multilingual Plane as a pair of surrogates. Programs
//! with UTF-16 strings may cut a text within a pair or keep an unpaired surrogate. Their output is
//! valid JSON, but a Rust string cannot hold it. Readers of model streams call this module only after a text failed to
//! parse.

use std::borrow::Cow;

/// Maximum number of cut strings per frame. No frame needs more.
const MAX_CUTS: usize = 64;

/// The replacement of an unpaired surrogate.
const REPLACEMENT: &str = "\u{fffd}";

/// JSON text without unpaired surrogates.
pub struct RepairedText {
    /// The text with replacements.
    pub text: Vec<u8>,
    /// The strings that may have been cut within a character.
    pub cuts: Vec<Cut>,
}

/// A string that was cut within a character, at its start or its end.
pub struct Cut {
    /// The string with replacements.
    pub text: String,
    /// The low surrogate at its start.
    pub second: Option<u16>,
    /// The high surrogate at its end.
    pub first: Option<u16>,
}

/// The string that is being read.
struct Open {
    /// Position of its opening quote in the output.
    at: usize,
    second: Option<u16>,
    first: Option<u16>,
}

/// Replaces unpaired surrogates in one pass. Returns `None` if there are none.
pub fn repair(json: &[u8]) -> Option<RepairedText> {
    let mut text = Vec::with_capacity(json.len());
    let mut cuts = Vec::new();
    let mut open: Option<Open> = None;
    let mut is_changed = false;
    let mut rest = json;
    while let Some(byte) = rest.first() {
        let kept = match (byte, open.as_mut()) {
            (b'"', None) => {
                open = Some(Open {
                    at: text.len(),
                    second: None,
                    first: None,
                });
                1
            }
            (b'"', Some(_)) => {
                text.push(b'"');
                rest = &rest[1..];
                cuts.extend(open.take().and_then(|open| cut(&open, &text, cuts.len())));
                continue;
            }
            (b'\\', Some(open)) => match unpaired(rest) {
                Ok(kept) => kept,
                Err(half) => {
                    is_changed = true;
                    let (begins, ends) = (text.len() == open.at + 1, rest.get(6) == Some(&b'"'));
                    open.second = open.second.or((begins && is_second(half)).then_some(half));
                    open.first = (ends && is_first(half)).then_some(half);
                    text.extend_from_slice(REPLACEMENT.as_bytes());
                    rest = &rest[6..];
                    continue;
                }
            },
            _ => 1,
        };
        let (same, after) = rest.split_at(kept.min(rest.len()));
        text.extend_from_slice(same);
        rest = after;
    }
    is_changed.then_some(RepairedText { text, cuts })
}

/// Returns a JSON text as valid UTF-8 without unpaired surrogates. Each of them, and each byte sequence that is not
/// UTF-8, becomes U+FFFD.
#[must_use]
pub fn repaired(json: &[u8]) -> Cow<'_, str> {
    let text = text(json);
    // Most texts have no escape of a surrogate, and the repair copies.
    let has_surrogates = || text.contains("\\ud") || text.contains("\\uD");
    let found = if has_surrogates() {
        repair(text.as_bytes())
    } else {
        None
    };
    match found.map(|found| String::from_utf8(found.text)) {
        Some(Ok(repaired)) => Cow::Owned(repaired),
        _ => text,
    }
}

/// Returns bytes as text. Each sequence that is not UTF-8 becomes U+FFFD.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    // `from_utf8_lossy` takes several times as long for text that is valid, as almost all of it is.
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Parses a JSON text, with unpaired surrogates replaced.
pub fn parse<T: serde::de::DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(json).or_else(|error| match repair(json) {
        Some(replaced) => serde_json::from_slice(&replaced.text),
        None => Err(error),
    })
}

/// Returns the character of a surrogate pair.
pub fn joined(first: u16, second: u16) -> Option<char> {
    char::decode_utf16([first, second]).next()?.ok()
}

/// Returns the length in bytes of the escape at the start, including the low surrogate of a pair.
/// Fails with the surrogate if it is unpaired.
fn unpaired(rest: &[u8]) -> Result<usize, u16> {
    match unit(rest) {
        None => Ok(2),
        Some(first) if is_first(first) => match rest.get(6..).and_then(unit) {
            Some(second) if is_second(second) => Ok(12),
            _ => Err(first),
        },
        Some(second) if is_second(second) => Err(second),
        Some(_) => Ok(6),
    }
}

/// Returns the value of a four-digit escape.
fn unit(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    let value = |sum: u16, digit: &u8| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(sum * 16 + u16::try_from(digit).ok()?)
    };
    digits.iter().try_fold(0, value)
}

const fn is_first(unit: u16) -> bool {
    matches!(unit, 0xd800..=0xdbff)
}

const fn is_second(unit: u16) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}

/// Returns the string at the end of `text` if it was cut.
fn cut(open: &Open, text: &[u8], known: usize) -> Option<Cut> {
    let is_cut = open.first.is_some() || open.second.is_some();
    if !is_cut || known >= MAX_CUTS {
        return None;
    }
    Some(Cut {
        text: serde_json::from_slice(&text[open.at..]).ok()?,
        second: open.second,
        first: open.first,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unpaired_surrogates_are_replaced() {
        let rows = [
            (r#""a\ud83d""#, Some("\"a\u{fffd}\"")),
            (r#""\ude00b""#, Some("\"\u{fffd}b\"")),
            (
                r#""\ud83d\ude00\ud83d""#,
                Some("\"\\ud83d\\ude00\u{fffd}\""),
            ),
            (
                r#""\uD83D\uD83D\uDE00""#,
                Some("\"\u{fffd}\\uD83D\\uDE00\""),
            ),
            (r#""\ud83d\n\ude00""#, Some("\"\u{fffd}\\n\u{fffd}\"")),
            (
                r#"{"\ud800":["\\ud800","\"\ud800"]}"#,
                Some("{\"\u{fffd}\":[\"\\\\ud800\",\"\\\"\u{fffd}\"]}"),
            ),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d \u00e4 \n""#, None),
            (r#""\ud8"#, None),
            (r#""\"#, None),
            (r"\ud800", None),
            ("", None),
        ];
        for (json, expected) in rows {
            let replaced = repair(json.as_bytes()).map(|it| String::from_utf8(it.text).unwrap());
            assert_eq!(replaced.as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn a_text_with_nothing_to_repair_is_not_copied() {
        for text in ["{}", r#"["\ud83d\ude00","\\ud800"]"#, "ä \n", r"\ud", ""] {
            assert!(
                matches!(repaired(text.as_bytes()), Cow::Borrowed(it) if it == text),
                "{text}"
            );
        }
        assert_eq!(repaired(b"\"\\udc00 \xff\""), "\"\u{fffd} \u{fffd}\"");
    }

    #[test]
    fn strings_with_replaced_surrogates_are_reported() {
        let json = r#"["\ude00a\ud83d","x\ude00y","\ud83dz","\ud83d","\udc00"]"#;
        let cuts = repair(json.as_bytes()).unwrap().cuts;
        let cuts = cuts.iter().map(|it| (&*it.text, it.second, it.first));
        assert_eq!(
            cuts.collect::<Vec<_>>(),
            [
                ("\u{fffd}a\u{fffd}", Some(0xde00), Some(0xd83d)),
                ("\u{fffd}", None, Some(0xd83d)),
                ("\u{fffd}", Some(0xdc00), None),
            ]
        );
        let many = format!("[{}]", [r#""\ud83d""#; 1000].join(","));
        assert_eq!(repair(many.as_bytes()).unwrap().cuts.len(), MAX_CUTS);
    }
}
