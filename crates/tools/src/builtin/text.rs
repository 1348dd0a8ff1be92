//! The text of a file, apart from its byte order mark.

use super::place::FileError;

/// What some editors put before a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The most lines of a text that is compared or searched line by line.
pub(crate) const MAX_LINES: usize = 1_000_000;

/// The text of a file.
#[derive(Debug, PartialEq)]
pub(crate) struct Text {
    /// Everything behind the mark.
    pub(crate) text: String,
    marked: bool,
}

impl Text {
    /// Reads bytes as UTF-8. Nothing is guessed and nothing replaced: what is no text is refused,
    /// because it would be written back as something else.
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

    /// The bytes of `text` with the mark of this one.
    pub(crate) fn encode(&self, text: &str) -> Vec<u8> {
        let mark = if self.marked { BYTE_ORDER_MARK } else { "" };
        [mark, text].concat().into_bytes()
    }
}

/// How often a text has a line break.
pub(crate) fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_set_aside_and_comes_back() {
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
    fn too_many_lines_are_refused() {
        let lines = "\n".repeat(MAX_LINES);
        assert_eq!(Text::decode(lines.as_bytes()).unwrap().text, lines);
        let error = Text::decode((lines + "\n").as_bytes()).unwrap_err();
        assert!(matches!(error, FileError::TooLarge), "{error:?}");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bytes in [&b"\xff"[..], b"a\xc3", b"a\0b", b"\xed\xa0\x80"] {
            let error = Text::decode(bytes).unwrap_err();
            assert_eq!(error.to_string(), "the file is not UTF-8 text");
        }
    }
}
