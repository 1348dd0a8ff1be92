//! Text of any known encoding as a stream of UTF-8.

use std::io::{self, Read};

use encoding_rs::Decoder;

use super::charset::{Charset, SAMPLE_BYTES, recognize};

/// Decodes a stream of bytes while it is read. A sequence that is not valid becomes U+FFFD, and a byte order mark is
/// left out. The encoding is recognized as [`Charset::of`] does it. The reading fails with
/// [`NotText`](super::charset::NotText) if the encoding of a later part is not certain.
pub(crate) struct TextReader<R> {
    bytes: R,
    /// `None` until the first byte that is not ASCII.
    decoder: Option<Decoder>,
    chunk: Vec<u8>,
    text: String,
    /// Number of bytes of the text (or of the chunk, without a decoder) that were read.
    given: usize,
    is_ended: bool,
    is_lenient: bool,
}

impl<R: Read> TextReader<R> {
    /// `charset` is the result of [`recognize`] for the first sample.
    pub(crate) fn new(bytes: R, charset: Option<Charset>) -> Self {
        Self {
            bytes,
            decoder: charset.map(decoder),
            chunk: Vec::new(),
            text: String::new(),
            given: 0,
            is_ended: false,
            is_lenient: false,
        }
    }

    /// Reads text in an encoding that is not certain as UTF-8.
    pub(crate) fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    fn refill(&mut self) -> io::Result<()> {
        self.given = 0;
        self.chunk.clear();
        let sample = self.bytes.by_ref().take(SAMPLE_BYTES as u64);
        { sample }.read_to_end(&mut self.chunk)?;
        self.is_ended = self.chunk.len() < SAMPLE_BYTES;
        if self.decoder.is_none() {
            let charset = match recognize(&self.chunk, false, self.is_ended) {
                Err(_) if self.is_lenient => Some(Charset::UTF8),
                Err(reason) => return Err(io::Error::new(io::ErrorKind::InvalidData, reason)),
                Ok(charset) => charset,
            };
            self.decoder = charset.map(decoder);
        }
        if let Some(decoder) = &mut self.decoder {
            self.text.clear();
            let room = decoder.max_utf8_buffer_length(self.chunk.len());
            self.text.reserve(room.unwrap_or(3 * SAMPLE_BYTES));
            // The room is sufficient for the whole chunk.
            let _ = decoder.decode_to_string(&self.chunk, &mut self.text, self.is_ended);
        }
        Ok(())
    }

    fn ready(&self) -> &[u8] {
        match self.decoder {
            Some(_) => &self.text.as_bytes()[self.given..],
            None => &self.chunk[self.given..],
        }
    }
}

fn decoder(charset: Charset) -> Decoder {
    charset.encoding().new_decoder_with_bom_removal()
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready().is_empty() && !self.is_ended {
            self.refill()?;
        }
        let ready = self.ready();
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Text;
    use super::*;

    fn decoded(bytes: &[u8]) -> Option<String> {
        let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        let charset = recognize(sample, true, bytes.len() < SAMPLE_BYTES).ok()?;
        let mut text = String::new();
        let read = TextReader::new(bytes, charset).read_to_string(&mut text);
        read.ok()?;
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
            (b"\xc4\xe3\xba\xc3", None),
        ] {
            assert_eq!(decoded(bytes).as_deref(), text, "{bytes:?}");
        }
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

        #[test]
        fn a_stream_and_a_whole_file_have_the_same_text(
            ascii in 0_usize..3,
            bytes in prop::collection::vec(prop_oneof![
                Just(b"word ".to_vec()), Just(b"\xe9t\xe9 ".to_vec()), Just(b"\xc3\xa9".to_vec()),
                Just(b"\r\n".to_vec()), Just(b"\xc4\xe3".to_vec()),
            ], 0..20),
        ) {
            let bytes = [vec![b'x'; ascii * (SAMPLE_BYTES - 7)], bytes.concat()].concat();
            let whole = Text::decode(bytes.clone()).ok().map(|text| text.text);
            prop_assert_eq!(decoded(&bytes), whole);
        }
    }
}
