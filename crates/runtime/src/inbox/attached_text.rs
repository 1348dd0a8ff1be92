//! The text of an attachment, from its bytes or its data URI, limited to the amount that a model receives.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

/// Maximum bytes and lines of one file: the same as for one call of the tool `read`.
pub(super) const MAX_BYTES: usize = 51_200;
pub(super) const MAX_LINES: usize = 2_000;

pub(super) const NOT_TEXT: &str = "it is not UTF-8 text";
pub(super) const NO_DATA: &str = "its data URI cannot be decoded";

/// Returns the text of a data URI, decoded from the character set that it names.
pub(super) fn data(uri: &str) -> Result<String, &'static str> {
    let rest = uri.strip_prefix("data:").ok_or(NO_DATA)?;
    let (head, body) = rest.split_once(',').ok_or(NO_DATA)?;
    let mut bytes: Vec<u8> = percent_decode_str(body).collect();
    if head.to_ascii_lowercase().ends_with(";base64") {
        bytes = STANDARD.decode(&bytes).map_err(|_| NO_DATA)?;
    }
    let parameters = head.split(';').skip(1);
    let charset = parameters
        .filter_map(|it| it.split_once('='))
        .find_map(|(name, value)| {
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then_some(value.trim().trim_matches('"'))
        });
    match charset.filter(|it| !it.eq_ignore_ascii_case("utf-8")) {
        None => utf8(bytes),
        Some(charset) => {
            let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).ok_or(NO_DATA)?;
            without_nul(encoding.decode(&bytes).0.into_owned())
        }
    }
}

/// Returns the bytes as text. An incomplete last character is dropped if the bytes were truncated.
pub(super) fn utf8(mut bytes: Vec<u8>) -> Result<String, &'static str> {
    if let Err(error) = std::str::from_utf8(&bytes) {
        if error.error_len().is_some() || bytes.len() <= MAX_BYTES {
            return Err(NOT_TEXT);
        }
        bytes.truncate(error.valid_up_to());
    }
    without_nul(String::from_utf8(bytes).map_err(|_| NOT_TEXT)?)
}

fn without_nul(text: String) -> Result<String, &'static str> {
    if text.contains('\0') {
        Err(NOT_TEXT)
    } else {
        Ok(text)
    }
}

/// Returns the beginning of a text within the limits, and true if the text was cut.
pub(super) fn bounded(text: &str) -> (&str, bool) {
    let end = text.floor_char_boundary(MAX_BYTES);
    let lines = text.match_indices('\n').nth(MAX_LINES - 1);
    let end = lines.map_or(end, |(at, _)| end.min(at));
    (&text[..end], end < text.trim_end_matches('\n').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_uris_are_decoded_with_their_encoding_and_charset() {
        for (uri, text) in [
            ("data:,a%20b", Ok("a b")),
            ("data:text/plain;base64,aGk=", Ok("hi")),
            ("data:text/plain;charset=iso-8859-1,caf%E9", Ok("caf\u{e9}")),
            ("data:text/plain;charset=UTF-8;base64,w6k=", Ok("\u{e9}")),
            ("data:text/plain;base64,%", Err(NO_DATA)),
            ("data:text/plain", Err(NO_DATA)),
            ("data:text/plain;charset=klingon,a", Err(NO_DATA)),
            ("data:text/plain,%FF", Err(NOT_TEXT)),
            ("data:text/plain,a%00b", Err(NOT_TEXT)),
            ("data:;charset=iso-8859-1,a%00b", Err(NOT_TEXT)),
        ] {
            assert_eq!(data(uri).as_deref(), text.as_deref(), "{uri}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_characters_and_lines() {
        let euros = "\u{20ac}".repeat(MAX_BYTES);
        let (text, is_cut) = bounded(&euros);
        assert!(is_cut && text.len() <= MAX_BYTES && text.len() > MAX_BYTES - 3);
        let lines = "a\n".repeat(MAX_LINES);
        assert!(!bounded(&lines).1);
        let lines = "a\n".repeat(MAX_LINES + 1);
        assert_eq!(bounded(&lines), (lines[..2 * MAX_LINES - 1].as_ref(), true));
        let mut cut = vec![b'a'; MAX_BYTES];
        cut.push(0xc3);
        assert_eq!(utf8(cut).unwrap().len(), MAX_BYTES);
    }
}
