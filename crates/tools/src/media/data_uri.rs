//! `data:` URIs in the forms that servers and programs write.

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::engine::{DecodePaddingMode, Engine as _};
use percent_encoding::percent_decode_str;

/// Reads base64 with and without padding, and with stray bits at its end.
const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The content of a `data:` URI, or bare base64 in its place.
pub(super) struct DataUri<'a> {
    /// The media type in the URI, which may be empty.
    pub(super) declared: &'a str,
    pub(super) is_base64: bool,
    content: &'a str,
}

impl<'a> DataUri<'a> {
    /// Reads the head of a URI. `None` for a URI of another scheme.
    pub(super) fn of(uri: &'a str) -> Option<Self> {
        let uri = uri.trim_start();
        let Some(scheme) = uri.get(..5).filter(|it| it.eq_ignore_ascii_case("data:")) else {
            let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(&byte);
            return uri.bytes().all(is_digit).then_some(Self {
                declared: "",
                is_base64: true,
                content: uri,
            });
        };
        let (head, content) = uri[scheme.len()..].split_once(',')?;
        let mut parameters = head.split(';').map(str::trim);
        Some(Self {
            declared: parameters.next().unwrap_or_default(),
            is_base64: parameters.any(|it| it.eq_ignore_ascii_case("base64")),
            content,
        })
    }

    pub(super) fn decode(&self) -> Option<Vec<u8>> {
        match self.is_base64 {
            true => decode_base64(self.content),
            false => Some(percent_decode_str(self.content).collect()),
        }
    }
}

/// Decodes base64 in the standard or the URL-safe alphabet, with or without padding, line breaks and percent-encoding.
/// `None` if it has other characters.
#[must_use]
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = STANDARD.decode(text) {
        return Some(bytes);
    }
    let unescaped = percent_decode_str(text);
    let digits: Vec<u8> = unescaped
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        })
        .collect();
    TOLERANT.decode(digits).ok()
}
