//! Decoding of text from byte chunks of any size.

use encoding_rs::UTF_8;

/// Decodes UTF-8 with characters that may be split between chunks. Replaces invalid bytes as
/// browsers and Node do.
pub(crate) struct Decoder(encoding_rs::Decoder);

impl Default for Decoder {
    fn default() -> Self {
        Self(UTF_8.new_decoder_without_bom_handling())
    }
}

impl Decoder {
    /// Returns the text that is complete after these bytes.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> String {
        self.text(bytes, false)
    }

    /// Returns the remaining text at the end of the input.
    pub(crate) fn finish(mut self) -> String {
        self.text(&[], true)
    }

    fn text(&mut self, bytes: &[u8], last: bool) -> String {
        // The decoder writes only into the existing capacity.
        let most = self.0.max_utf8_buffer_length(bytes.len());
        let mut text = String::with_capacity(most.unwrap_or(usize::MAX));
        let _ = self.0.decode_to_string(bytes, &mut text, last);
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String = pieces.iter().map(|piece| decoder.decode(piece)).collect();
        text.push_str(&decoder.finish());
        text
    }

    #[test]
    fn characters_are_whole_across_pieces() {
        for (pieces, text) in [
            (&[b"".as_slice()] as &[&[u8]], ""),
            (&[b"a", b"b"], "ab"),
            (&[b"\xc3", b"\xa4"], "ä"),
            (&[b"\xe2", b"\x82", b"\xac!"], "€!"),
            (&[b"x\xf0\x9f", b"\x98\x80y"], "x😀y"),
            (&[b"\xf0", b"\x9f", b"\x98", b"\x80"], "😀"),
            // Never completed.
            (&[b"\xf0\x9f\x98"], "\u{fffd}"),
            (&[b"\xf0\x9f", b"x"], "\u{fffd}x"),
            // Never valid text.
            (&[b"\xff\xfea"], "\u{fffd}\u{fffd}a"),
            (&[b"\xed\xa0\x80"], "\u{fffd}\u{fffd}\u{fffd}"),
            (&[b"\xc0\xaf"], "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(decode(pieces), text, "{pieces:?}");
        }
    }

    proptest! {
        #[test]
        fn the_decoded_text_does_not_depend_on_the_split(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), Just(0xf0), Just(0x9f), Just(0x98), Just(0x80)], 0..40),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(decode(&pieces), String::from_utf8_lossy(&bytes));
        }
    }
}
