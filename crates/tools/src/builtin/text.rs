//! The text of a file without its byte order mark.

use super::place::FileError;

/// The mark that some editors write before a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Maximum number of lines of a text that is compared or searched by line.
pub(crate) const MAX_LINES: usize = 1_000_000;

/// The text of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Text {
    /// The text after the mark.
    pub(crate) text: String,
    marked: bool,
}

impl Text {
    /// Decodes bytes as UTF-8. Refuses bytes that are not text and replaces nothing, because a
    /// replacement would change the content when it is written back.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, FileError> {
        let text = std::str::from_utf8(bytes).map_err(|_| FileError::NotText)?;
        if text.contains('\0') {
            return Err(FileError::NotText);
        }
        if line_count(text) > MAX_LINES {
            return Err(FileError::TooLarge);
        }
        let rest = text.strip_prefix(BYTE_ORDER_MARK);
        Ok(Self {
            text: rest.unwrap_or(text).to_owned(),
            marked: rest.is_some(),
        })
    }

    /// Returns the bytes of `text`, with a mark if this text had one.
    pub(crate) fn encode(&self, text: &str) -> Vec<u8> {
        let mark = if self.marked { BYTE_ORDER_MARK } else { "" };
        [mark, text].concat().into_bytes()
    }
}

/// Returns the number of line breaks.
pub(crate) fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_removed_and_restored() {
        for (bytes, text) in [
            ("", ""),
            ("a\r\nb", "a\r\nb"),
            ("\u{feff}", ""),
            ("\u{feff}a", "a"),
            ("\u{feff}\u{feff}a", "\u{feff}a"),
            ("a\u{feff}", "a\u{feff}"),
        ] {
            let decoded = Text::decode(bytes.as_bytes()).unwrap();
            assert_eq!(decoded.text, text, "{bytes:?}");
            assert_eq!(decoded.encode(text), bytes.as_bytes(), "{bytes:?}");
        }
    }

    #[test]
    fn a_text_with_too_many_lines_is_refused() {
        let lines = "\n".repeat(MAX_LINES);
        assert_eq!(Text::decode(lines.as_bytes()).unwrap().text, lines);
        let error = Text::decode((lines + "\n").as_bytes()).unwrap_err();
        assert!(matches!(error, FileError::TooLarge), "{error:?}");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        for bytes in [&b"\xff"[..], b"a\xc3", b"a\0b", b"\xed\xa0\x80"] {
            let error = Text::decode(bytes).unwrap_err();
            assert_eq!(error.to_string(), "the file is not UTF-8 text");
        }
    }
}
