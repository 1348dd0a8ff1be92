//! Texts without visible characters. Claude refuses requests with such a text, and so do other models.

use std::borrow::Cow;

/// True for a text without visible characters.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// Returns a text, or the empty text for a blank one. Servers accept a result without content.
pub(super) fn visible(text: Cow<'_, str>) -> Cow<'_, str> {
    match is_blank(&text) {
        true => Cow::Borrowed(""),
        false => text,
    }
}

/// True for control characters, and for characters without a width that Unicode does not count as white space.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::is_blank;

    #[test]
    fn a_text_is_blank_without_visible_characters() {
        for text in [
            "",
            " ",
            "\n",
            "\r\n\t",
            "\u{a0}",
            "\u{2003}\u{3000}",
            "\u{200b}",
            "\u{feff}\n",
            "\u{2060}",
            "\u{1c}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in [".", " a ", "\u{200b}ä", "\u{1f600}", "0"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
