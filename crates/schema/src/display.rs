//! Texts that users read and that come from others: projects, imports, models, and servers of the Model Context
//! Protocol.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A text without characters that change how a terminal or a user interface shows what stands around it: control
/// characters, marks for the direction of text, and line separators. Each such character is written as its escape, such
/// as `\u001b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayText<'t>(Cow<'t, str>);

impl<'t> DisplayText<'t> {
    /// A text of one line, such as a title or a name. Line feeds and tabs are escaped as well.
    #[must_use]
    pub fn line(text: impl Into<Cow<'t, str>>) -> Self {
        Self::new(text.into(), |_| false)
    }

    /// A text of several lines, such as a command or a question. Line feeds and tabs stay.
    #[must_use]
    pub fn block(text: impl Into<Cow<'t, str>>) -> Self {
        Self::new(text.into(), |it| it == '\n' || it == '\t')
    }

    /// Returns the text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }

    fn new(text: Cow<'t, str>, stays: fn(char) -> bool) -> Self {
        let is_escaped = |it: char| disturbs(it) && !stays(it);
        if !text.contains(is_escaped) {
            return Self(text);
        }
        let mut shown = String::with_capacity(text.len() + 16);
        for character in text.chars() {
            match character {
                '\n' if is_escaped('\n') => shown.push_str("\\n"),
                '\t' if is_escaped('\t') => shown.push_str("\\t"),
                '\r' => shown.push_str("\\r"),
                other if is_escaped(other) => {
                    shown.push_str(&format!("\\u{:04x}", u32::from(other)));
                }
                other => shown.push(other),
            }
        }
        Self(Cow::Owned(shown))
    }
}

impl Deref for DisplayText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DisplayText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// True for a character that changes how the text around it is shown.
#[must_use]
pub fn disturbs(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_disturb_are_escaped() {
        for (text, line, block) in [
            ("plain ü 😀 \\n", "plain ü 😀 \\n", "plain ü 😀 \\n"),
            ("a\nb\tc", "a\\nb\\tc", "a\nb\tc"),
            ("a\r\nb", "a\\r\\nb", "a\\r\nb"),
            (
                "\u{1b}[31mred\u{7}",
                "\\u001b[31mred\\u0007",
                "\\u001b[31mred\\u0007",
            ),
            (
                "\u{9b}1m\u{7f}\0",
                "\\u009b1m\\u007f\\u0000",
                "\\u009b1m\\u007f\\u0000",
            ),
            (
                "a\u{202e}b\u{2066}c\u{200f}",
                "a\\u202eb\\u2066c\\u200f",
                "a\\u202eb\\u2066c\\u200f",
            ),
            (
                "a\u{2028}b\u{2029}\u{61c}",
                "a\\u2028b\\u2029\\u061c",
                "a\\u2028b\\u2029\\u061c",
            ),
        ] {
            assert_eq!(&*DisplayText::line(text), line);
            assert_eq!(&*DisplayText::block(text), block);
        }
        for character in '\0'..=char::MAX {
            let shown = DisplayText::line(String::from(character)).into_string();
            assert!(!shown.contains(disturbs), "{character:?}");
        }
    }

    #[test]
    fn a_text_that_disturbs_nothing_is_not_copied() {
        assert!(matches!(DisplayText::line("plain").0, Cow::Borrowed(_)));
    }
}
