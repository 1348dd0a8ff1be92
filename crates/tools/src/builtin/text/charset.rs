//! Recognizes the encoding of a text by its bytes.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS};

use super::{
    binary::{has_binary_format, is_binary},
    western::is_western,
};

/// Number of bytes by which an encoding is recognized.
pub(crate) const SAMPLE_BYTES: usize = 64 * 1024;

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The way in which a file stores its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charset {
    pub(crate) form: Form,
    /// True if a byte order mark stands before the text.
    pub(crate) is_marked: bool,
}

/// An encoding of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// Latin-1 in the form that Windows uses.
    Windows1252,
}

/// Reason why bytes are not read as text. The message is the end of a sentence about a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotText {
    #[error("it is a binary file")]
    Binary,
    #[error("it is text in UTF-32. Convert it to UTF-8 first")]
    Utf32,
    #[error(
        "it is text in an encoding that is not certain: neither UTF-8, UTF-16 nor clearly Windows-1252{0}. Convert it \
         to UTF-8 first, for example with iconv"
    )]
    Unknown(String),
    #[error("it has more than a million lines")]
    TooManyLines,
}

impl Charset {
    pub(crate) const UTF8: Self = Self {
        form: Form::Utf8,
        is_marked: false,
    };

    /// Returns the bytes of the byte order mark, or none.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self.form {
            _ if !self.is_marked => b"",
            Form::Utf8 => UTF8_MARK,
            Form::Utf16Le => b"\xff\xfe",
            Form::Utf16Be => b"\xfe\xff",
            Form::Windows1252 => b"",
        }
    }

    pub(crate) fn encoding(self) -> &'static Encoding {
        match self.form {
            Form::Utf8 => encoding_rs::UTF_8,
            Form::Utf16Le => encoding_rs::UTF_16LE,
            Form::Utf16Be => encoding_rs::UTF_16BE,
            Form::Windows1252 => encoding_rs::WINDOWS_1252,
        }
    }

    /// Recognizes the encoding of a whole text.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, NotText> {
        let samples = bytes.chunks(SAMPLE_BYTES);
        let last = samples.len().saturating_sub(1);
        for (index, sample) in samples.enumerate() {
            if let Some(charset) = recognize(sample, index == 0, index == last)? {
                return Ok(charset);
            }
        }
        Ok(Self::UTF8)
    }
}

/// Recognizes an encoding by one sample. Samples of a text are its consecutive parts of [`SAMPLE_BYTES`], and the
/// first one that is not ASCII decides. `None` if this one is ASCII.
pub(crate) fn recognize(
    sample: &[u8],
    is_first: bool,
    is_last: bool,
) -> Result<Option<Charset>, NotText> {
    if is_first {
        if let Some(charset) = marked(sample)? {
            return Ok(Some(charset));
        }
        if sample.contains(&0) {
            return match unmarked_utf16(sample, is_last) {
                Some(form) => Ok(Some(Charset {
                    form,
                    is_marked: false,
                })),
                None => Err(NotText::Binary),
            };
        }
        if has_binary_format(sample) || is_binary(sample) {
            return Err(NotText::Binary);
        }
    }
    if sample.is_ascii() {
        return Ok(None);
    }
    if sample.contains(&0) || is_utf8(sample, is_last) {
        return Ok(Some(Charset::UTF8));
    }
    // Compressed and encrypted bytes have many control characters.
    let is_control = |byte: &&u8| matches!(byte, 1..8 | 14..=25 | 28..32 | 127);
    let controls = sample.iter().filter(is_control).count();
    if controls * 50 > sample.len() {
        return Err(NotText::Binary);
    }
    if is_western(sample) {
        return Ok(Some(Charset {
            form: Form::Windows1252,
            is_marked: false,
        }));
    }
    Err(NotText::Unknown(candidates(sample, is_last)))
}

fn marked(head: &[u8]) -> Result<Option<Charset>, NotText> {
    let form = if head.starts_with(UTF8_MARK) {
        Form::Utf8
    } else if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
        return Err(NotText::Utf32);
    } else if head.starts_with(b"\xff\xfe") {
        Form::Utf16Le
    } else if head.starts_with(b"\xfe\xff") {
        Form::Utf16Be
    } else {
        return Ok(None);
    };
    Ok(Some(Charset {
        form,
        is_marked: true,
    }))
}

/// True if bytes are UTF-8, or UTF-8 with a few damaged characters.
fn is_utf8(sample: &[u8], is_last: bool) -> bool {
    let (mut valid, mut invalid) = (0, 0);
    let mut chunks = sample.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        let end = std::str::from_utf8(chunk.invalid());
        // The end of the sample may cut the last character.
        let is_cut = !is_last
            && chunks.peek().is_none()
            && end.is_err_and(|error| error.error_len().is_none());
        invalid += usize::from(!chunk.invalid().is_empty() && !is_cut);
    }
    valid >= 2 * invalid
}

/// Returns the form of UTF-16 without a byte order mark: at least four characters, none that a text does not have, and
/// besides ASCII mostly those of East Asia, which have no zero byte.
fn unmarked_utf16(sample: &[u8], is_last: bool) -> Option<Form> {
    let is_even = sample.len().is_multiple_of(2);
    if sample.len() < 8 || (is_last && !is_even) {
        return None;
    }
    let is_text = |unit: fn([u8; 2]) -> u16| {
        let units = || sample.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
        let mut count = 0;
        let (mut ascii, mut wide) = (0, 0);
        let mut damaged = 0;
        for character in char::decode_utf16(units()) {
            count += 1;
            match character {
                Ok('\t' | '\n' | '\r' | '\u{c}' | ' '..='~') => ascii += 1,
                Ok('\0'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fffe}' | '\u{ffff}') => {
                    return false;
                }
                Ok('\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ffef}') => {
                    wide += 1;
                }
                Ok(_) => {}
                Err(_) => damaged += 1,
            }
        }
        // The end of the sample may cut the last character.
        ascii >= 2 && (ascii + wide) * 2 >= count && damaged <= usize::from(!is_last)
    };
    if is_text(u16::from_le_bytes) {
        Some(Form::Utf16Le)
    } else if is_text(u16::from_be_bytes) {
        Some(Form::Utf16Be)
    } else {
        None
    }
}

/// Names the encodings of several bytes per character in which the bytes are valid.
fn candidates(sample: &[u8], is_last: bool) -> String {
    let is_valid = |encoding: &&&'static Encoding| {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let room = decoder.max_utf8_buffer_length_without_replacement(sample.len());
        let mut text = String::with_capacity(room.unwrap_or_default());
        let (result, _) = decoder.decode_to_string_without_replacement(sample, &mut text, is_last);
        result == encoding_rs::DecoderResult::InputEmpty
    };
    let known = [GBK, BIG5, SHIFT_JIS, EUC_JP, EUC_KR];
    let names: Vec<_> = known
        .iter()
        .filter(is_valid)
        .map(|encoding| encoding.name())
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" (the bytes are valid in {})", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(form: Form, is_marked: bool) -> Result<Charset, NotText> {
        Ok(Charset { form, is_marked })
    }

    #[test]
    fn each_encoding_is_recognized_by_its_bytes() {
        use Form::*;
        let wide =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let big =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
        for (bytes, expected) in [
            (b"".to_vec(), charset(Utf8, false)),
            (b"plain text\n".to_vec(), charset(Utf8, false)),
            (b"v 0 0 0\n".to_vec(), charset(Utf8, false)),
            (b"caf\xc3\xa9".to_vec(), charset(Utf8, false)),
            (b"\xef\xbb\xbfhi".to_vec(), charset(Utf8, true)),
            (b"\xff\xfeh\0\xe9\0".to_vec(), charset(Utf16Le, true)),
            (b"\xff\xfe\0a".to_vec(), charset(Utf16Le, true)),
            (b"\xfe\xff\0h\0\xe9".to_vec(), charset(Utf16Be, true)),
            (wide("hello wide\r\n"), charset(Utf16Le, false)),
            (wide("caf\u{e9} \u{4f60} ok\n"), charset(Utf16Le, false)),
            (big("hello wide\r\n"), charset(Utf16Be, false)),
            (wide("这是中文注释\r\n"), charset(Utf16Le, false)),
            (b"caf\xe9 noir\n".to_vec(), charset(Windows1252, false)),
            (
                "\u{e4}"
                    .repeat(40)
                    .into_bytes()
                    .into_iter()
                    .chain(*b"\xff")
                    .collect(),
                charset(Utf8, false),
            ),
            (b"a\0b".to_vec(), Err(NotText::Binary)),
            (b"text\0text".to_vec(), Err(NotText::Binary)),
            (b"\x01\0\x02\0\x03\0\x04\0".to_vec(), Err(NotText::Binary)),
            (b"\x01\x02\x03".to_vec(), Err(NotText::Binary)),
            (b"%PDF-1.7 only ASCII".to_vec(), Err(NotText::Binary)),
            (b"PK\x03\x04 only ASCII".to_vec(), Err(NotText::Binary)),
            (b"\xff\xfe\0\0a\0\0\0".to_vec(), Err(NotText::Utf32)),
            (b"\0\0\xfe\xff\0\0\0a".to_vec(), Err(NotText::Utf32)),
        ] {
            assert_eq!(Charset::of(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn an_uncertain_encoding_is_told_with_its_candidates() {
        let reason = Charset::of(b"\xc4\xe3\xba\xc3\n").unwrap_err().to_string();
        assert!(reason.contains("valid in GBK"), "{reason}");
        let reason = Charset::of(b"\xcf\xf0\xe8\xe2\xe5\xf2 \xff").unwrap_err();
        assert!(matches!(reason, NotText::Unknown(_)));
    }

    #[test]
    fn random_bytes_are_binary() {
        let mut state = 1_u32;
        let bytes: Vec<u8> = (0..300)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 24) as u8).max(1)
            })
            .collect();
        assert_eq!(Charset::of(&bytes), Err(NotText::Binary));
    }

    #[test]
    fn the_first_sample_that_is_not_ascii_decides() {
        let ascii = "x\n".repeat(SAMPLE_BYTES);
        for (end, form) in [
            (&b"caf\xe9\n"[..], Form::Windows1252),
            (b"caf\xc3\xa9\n", Form::Utf8),
        ] {
            let bytes = [ascii.as_bytes(), end].concat();
            assert_eq!(Charset::of(&bytes), charset(form, false));
        }
        // The end of a sample cuts a character.
        let cut = "\u{e9}".repeat(SAMPLE_BYTES);
        assert_eq!(
            Charset::of(&[b"x", cut.as_bytes()].concat()),
            charset(Form::Utf8, false)
        );
    }
}
