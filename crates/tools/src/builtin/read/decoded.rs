//! Text of any encoding as UTF-8.

use std::io::{self, Read};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::page::is_binary;

/// Number of bytes that are decoded at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Returns the encoding of a text by its first bytes: the one that its byte order mark names, else UTF-8, else Latin-1
/// in the form that Windows uses. `None` if the bytes are not text. `is_whole` tells if no bytes follow.
pub(super) fn encoding_of(head: &[u8], is_whole: bool) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(head)
        && [UTF_16LE, UTF_16BE].contains(&encoding)
    {
        return Some(encoding);
    }
    if is_binary(head) {
        return None;
    }
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The end of the head may have cut the last character.
        Err(error) => error.error_len().is_none() && !is_whole,
    };
    Some(if is_utf8 { UTF_8 } else { WINDOWS_1252 })
}

/// Decodes a stream of bytes while it is read. A sequence that is not valid becomes U+FFFD, and a byte order mark is
/// left out.
pub(super) struct Decoded<R> {
    bytes: R,
    decoder: Decoder,
    chunk: Vec<u8>,
    text: String,
    /// Number of bytes of `text` that were read.
    given: usize,
    is_ended: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(bytes: R, encoding: &'static Encoding) -> Self {
        Self {
            bytes,
            decoder: encoding.new_decoder_with_bom_removal(),
            chunk: vec![0; CHUNK_BYTES],
            text: String::new(),
            given: 0,
            is_ended: false,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        let count = self.bytes.read(&mut self.chunk)?;
        self.is_ended = count == 0;
        self.given = 0;
        self.text.clear();
        let room = self.decoder.max_utf8_buffer_length(count);
        self.text.reserve(room.unwrap_or(3 * CHUNK_BYTES));
        // The room is sufficient for the whole chunk.
        let _ = self
            .decoder
            .decode_to_string(&self.chunk[..count], &mut self.text, self.is_ended);
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.is_ended {
            self.refill()?;
        }
        let rest = &self.text.as_bytes()[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8]) -> Option<String> {
        let encoding = encoding_of(bytes, true)?;
        let mut text = String::new();
        Decoded::new(bytes, encoding)
            .read_to_string(&mut text)
            .unwrap();
        Some(text)
    }

    #[test]
    fn each_encoding_becomes_utf8() {
        for (bytes, text) in [
            (b"".as_slice(), Some("")),
            (b"caf\xc3\xa9", Some("caf\u{e9}")),
            (b"\xef\xbb\xbfhi", Some("hi")),
            (b"\xff\xfeh\0\xe9\0", Some("h\u{e9}")),
            (b"\xfe\xff\0h\0\xe9", Some("h\u{e9}")),
            (b"\xff\xfeh\0\xe9", Some("h\u{fffd}")),
            (b"\xff\xfe\x00\xd8", Some("\u{fffd}")),
            (b"caf\xe9 is Latin-1", Some("caf\u{e9} is Latin-1")),
            (b"a\0b", None),
            (b"\x01\x02\x03", None),
        ] {
            assert_eq!(decoded(bytes).as_deref(), text, "{bytes:?}");
        }
    }

    #[test]
    fn a_cut_character_at_the_end_of_the_head_is_no_reason_for_another_encoding() {
        assert_eq!(encoding_of(b"caf\xc3", false), Some(UTF_8));
        assert_eq!(encoding_of(b"caf\xc3", true), Some(WINDOWS_1252));
    }

    proptest! {
        #[test]
        fn utf8_and_utf16_give_the_same_text(
            piece in "[^\0-\x1f\u{feff}]{0,60}",
            times in 0_usize..600,
        ) {
            let text = piece.repeat(times);
            prop_assert_eq!(decoded(text.as_bytes()), Some(text.clone()));
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
            prop_assert_eq!(decoded(&bytes), Some(text));
        }
    }
}
