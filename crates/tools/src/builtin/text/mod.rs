//! Texts of files: their encodings, and changes that keep every other byte.

mod binary;
mod charset;
pub(crate) mod ends;
pub(crate) mod lines;
pub(crate) mod nearest;
mod reader;
mod western;

use std::{borrow::Cow, ops::Range};

pub(crate) use self::{
    binary::{ByteCounts, has_binary_format, is_binary},
    charset::{Charset, Form, NotText, SAMPLE_BYTES, recognize},
    reader::TextReader,
};

/// The mark that some editors write before a text in Unicode.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Maximum number of lines of a text that is compared or searched by line.
pub(crate) const MAX_LINES: usize = 1_000_000;

/// Stands in a decoded text for bytes that are not valid.
const REPLACEMENT: &str = "\u{fffd}";

/// The text of a file.
#[derive(Debug)]
pub(crate) struct Text {
    /// The text after the byte order mark.
    pub(crate) text: String,
    pub(crate) charset: Charset,
    bytes: Vec<u8>,
    /// Where the text begins in the bytes.
    start: usize,
}

/// Text in place of a range of the old text. An insertion has an empty range.
#[derive(Debug, PartialEq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// The content of a file after a change.
#[derive(Debug, PartialEq)]
pub(crate) struct Changed {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

/// Reason why a change cannot be written in the encoding of a file. The message is a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unencodable {
    #[error(
        "the file is in {1}, which does not have the character {0:?} (U+{code:04X}). Nothing was changed. Leave the \
         character out, or convert the file to UTF-8 first", code = u32::from(*.0)
    )]
    Character(char, &'static str),
    #[error(
        "the change includes bytes that are not valid in {0}, which read shows as U+FFFD. Nothing was changed. Choose \
         the text to change without them"
    )]
    Damaged(&'static str),
    #[error(
        "after the change the file would not be recognized as {0} again. Nothing was changed. Convert the file to \
         UTF-8 first"
    )]
    Ambiguous(&'static str),
}

impl Text {
    /// Decodes the content of a file. Bytes that are not valid become U+FFFD; a change keeps them.
    pub(crate) fn decode(bytes: Vec<u8>) -> Result<Self, NotText> {
        let charset = Charset::of(&bytes)?;
        let start = charset.mark().len();
        let text = decode(&bytes[start..], charset.form);
        if text.contains('\0') {
            return Err(NotText::Binary);
        }
        if line_count(&text) > MAX_LINES {
            return Err(NotText::TooManyLines);
        }
        Ok(Self {
            text: text.into_owned(),
            charset,
            bytes,
            start,
        })
    }

    /// Returns the content that was decoded.
    pub(crate) fn original(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes changes, which are in order and do not overlap. All other bytes stay, also those that are not valid.
    pub(crate) fn change(&self, edits: &[Edit]) -> Result<Changed, Unencodable> {
        let name = self.charset.encoding().name();
        let mut changed = Changed {
            text: String::with_capacity(self.text.len()),
            bytes: Vec::with_capacity(self.bytes.len()),
        };
        let mut content = Cursor {
            form: self.charset.form,
            text: &self.text,
            bytes: &self.bytes[self.start..],
        };
        let mut end = 0;
        changed.bytes.extend(self.charset.mark());
        for edit in edits {
            let (range, text) = shortest(&self.text, edit);
            let kept = content.advance(range.start - end);
            changed.text.push_str(&self.text[end..range.start]);
            changed.bytes.extend(kept);
            let removed = content.advance(range.len());
            let mut whole = Vec::new();
            encode(&self.text[range.clone()], self.charset, &mut whole)?;
            let is_damaged = whole != removed;
            if is_damaged && text.contains(REPLACEMENT) {
                return Err(Unencodable::Damaged(name));
            }
            changed.text.push_str(text);
            encode(text, self.charset, &mut changed.bytes)?;
            end = range.end;
        }
        changed.text.push_str(&self.text[end..]);
        changed.bytes.extend(content.bytes);
        require_recognition(&changed.bytes, self.charset)?;
        Ok(changed)
    }

    /// True if every byte is valid.
    pub(crate) fn is_exact(&self) -> bool {
        !self.text.contains(REPLACEMENT)
    }
}

/// Returns the bytes of a whole text with its byte order mark.
pub(crate) fn encode_whole(text: &str, charset: Charset) -> Result<Vec<u8>, Unencodable> {
    let mut bytes = charset.mark().to_vec();
    encode(text, charset, &mut bytes)?;
    require_recognition(&bytes, charset)?;
    Ok(bytes)
}

/// Fails if the next reader would take the bytes for another text.
fn require_recognition(bytes: &[u8], charset: Charset) -> Result<(), Unencodable> {
    let is_certain = charset.form == Form::Utf8 || charset.is_marked || bytes.is_ascii();
    if is_certain || Charset::of(bytes) == Ok(charset) {
        return Ok(());
    }
    Err(Unencodable::Ambiguous(charset.encoding().name()))
}

/// Returns the change without the text at both ends that stays.
fn shortest<'a>(text: &str, edit: &'a Edit) -> (Range<usize>, &'a str) {
    let old = &text[edit.range.clone()];
    let same = old.chars().zip(edit.text.chars());
    let start: usize = same
        .take_while(|(old, new)| old == new)
        .map(|(old, _)| old.len_utf8())
        .sum();
    let (rest, new) = (&old[start..], &edit.text[start..]);
    let same = rest.chars().rev().zip(new.chars().rev());
    let end: usize = same
        .take_while(|(old, new)| old == new)
        .map(|(old, _)| old.len_utf8())
        .sum();
    let range = edit.range.start + start..edit.range.end - end;
    (range, &new[..new.len() - end])
}

/// The rest of a text and of its bytes.
struct Cursor<'a> {
    form: Form,
    text: &'a str,
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Passes `length` bytes of the decoded text and returns the bytes that they come from.
    fn advance(&mut self, length: usize) -> &'a [u8] {
        let (passed, text) = self.text.split_at(length);
        let count = match self.form {
            Form::Utf8 => utf8_length(self.bytes, length),
            Form::Utf16Le | Form::Utf16Be => 2 * passed.encode_utf16().count(),
            Form::Windows1252 => passed.chars().count(),
        };
        // A text in UTF-16 may end with half a unit.
        let (passed, bytes) = self.bytes.split_at(count.min(self.bytes.len()));
        (self.text, self.bytes) = (text, bytes);
        passed
    }
}

/// Returns the number of bytes that give `length` bytes of text.
fn utf8_length(bytes: &[u8], length: usize) -> usize {
    let (mut decoded, mut count) = (0, 0);
    // Bytes that are not valid become at least as many bytes, so a later part is not needed.
    let end = bytes.len().min(length + REPLACEMENT.len());
    for chunk in bytes[..end].utf8_chunks() {
        let valid = chunk.valid().len();
        if decoded + valid >= length {
            return count + length - decoded;
        }
        decoded += valid + REPLACEMENT.len();
        count += valid + chunk.invalid().len();
        if decoded >= length {
            break;
        }
    }
    count
}

fn decode(bytes: &[u8], form: Form) -> Cow<'_, str> {
    let units = |unit: fn([u8; 2]) -> u16| {
        let (pairs, half) = bytes.as_chunks::<2>();
        let characters = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
        let characters =
            characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER));
        let half = (!half.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        characters.chain(half).collect()
    };
    match form {
        Form::Utf8 => String::from_utf8_lossy(bytes),
        Form::Utf16Le => units(u16::from_le_bytes),
        Form::Utf16Be => units(u16::from_be_bytes),
        Form::Windows1252 => {
            encoding_rs::WINDOWS_1252
                .decode_without_bom_handling(bytes)
                .0
        }
    }
}

/// Adds the bytes of a text, without a byte order mark.
fn encode(text: &str, charset: Charset, bytes: &mut Vec<u8>) -> Result<(), Unencodable> {
    match charset.form {
        Form::Utf8 => bytes.extend(text.as_bytes()),
        Form::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Form::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        Form::Windows1252 => {
            let encoding = charset.encoding();
            for character in text.chars() {
                let mut buffer = [0; 4];
                let (encoded, _, is_replaced) = encoding.encode(character.encode_utf8(&mut buffer));
                if is_replaced {
                    return Err(Unencodable::Character(character, encoding.name()));
                }
                bytes.extend(encoded.iter());
            }
        }
    }
    Ok(())
}

/// Returns the number of line breaks.
pub(crate) fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests;
