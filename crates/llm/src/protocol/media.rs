//! Checks of attached files, and the notes that replace files that cannot be sent.

use crate::canonical::model::Capabilities;
use crate::canonical::request::Media;

/// Size limits in bytes that all providers accept.
const MAX_ENCODED_BYTES: usize = 29_360_128;
const MAX_DECODED_BYTES: usize = 20_971_520;

const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A file that passed the checks: padded base64 within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoded<'a> {
    /// The MIME type.
    pub(super) media_type: &'a str,
    /// The content.
    pub(super) base64: &'a str,
}

impl Encoded<'_> {
    /// Returns the file as a `data:` URL.
    pub(super) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.base64)
    }
}

/// The kinds of files that a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reads {
    images: bool,
    pdf: bool,
    /// The types of sounds.
    sounds: &'static [&'static str],
}

impl Reads {
    pub(super) fn of(capabilities: &Capabilities) -> Self {
        Self {
            images: capabilities.reads("image"),
            pdf: capabilities.reads("pdf"),
            sounds: &[],
        }
    }

    /// Adds the types of sounds that the protocol can carry, if the model reads sounds.
    pub(super) fn with_sounds(
        mut self,
        capabilities: &Capabilities,
        types: &'static [&'static str],
    ) -> Self {
        if capabilities.reads("audio") {
            self.sounds = types;
        }
        self
    }
}

/// A file, by the way the model can read it.
pub(super) enum Attachment<'a> {
    Image(Encoded<'a>),
    /// A sound. Only for protocols that [add](Reads::with_sounds) sounds.
    Sound(Encoded<'a>),
    Pdf {
        filename: &'a str,
        file: Encoded<'a>,
    },
    /// The replacement of a file that the model cannot read.
    Note(String),
}

impl<'a> Attachment<'a> {
    /// Classifies a file of a message.
    pub(super) fn of(file: &'a Media, reads: Reads) -> Self {
        let name = file.filename.as_deref();
        Self::new(&file.media_type, &file.data, name, reads)
    }

    /// Returns the replacement of a file that the protocol cannot carry.
    pub(super) fn replaced(file: Encoded<'_>) -> String {
        unreadable(file.media_type, None)
    }

    pub(super) fn new(
        media_type: &'a str,
        data: &'a str,
        name: Option<&'a str>,
        reads: Reads,
    ) -> Self {
        let is_pdf = media_type == "application/pdf";
        let is_sound = reads.sounds.contains(&media_type);
        let is_readable =
            (is_image(media_type) && reads.images) || (is_pdf && reads.pdf) || is_sound;
        match encoded(media_type, data).filter(|_| is_readable) {
            Some(file) if is_pdf => Self::Pdf {
                filename: name.unwrap_or("document.pdf"),
                file,
            },
            Some(file) if is_sound => Self::Sound(file),
            Some(file) => Self::Image(file),
            None => Self::Note(unreadable(media_type, name)),
        }
    }
}

/// True if models read this image type.
fn is_image(media_type: &str) -> bool {
    IMAGE_TYPES.contains(&media_type)
}

/// Checks a file given as base64 or as a `data:` URL of the declared type.
fn encoded<'a>(media_type: &'a str, data: &'a str) -> Option<Encoded<'a>> {
    let base64 = match data.strip_prefix("data:") {
        None => data,
        Some(url) => {
            let (head, content) = url.split_once(',')?;
            let declared = head.strip_suffix(";base64")?;
            let essence = declared.split(';').next()?;
            if !essence.eq_ignore_ascii_case(media_type) {
                return None;
            }
            content
        }
    };
    is_canonical(base64.as_bytes()).then_some(Encoded { media_type, base64 })
}

/// Returns the sentence that replaces a file that the model cannot read. The request must not fail:
/// the file stays in the conversation, so every later request would fail too.
fn unreadable(media_type: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => {
            format!("[The attachment {name:?} ({media_type}) cannot be read by this model.]")
        }
        None => format!("[An attachment of type {media_type} cannot be read by this model.]"),
    }
}

/// True for standard base64 with padding, without stray bits and within the limits.
fn is_canonical(base64: &[u8]) -> bool {
    if base64.is_empty() || base64.len() > MAX_ENCODED_BYTES || !base64.len().is_multiple_of(4) {
        return false;
    }
    let padding = base64
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count();
    if padding > 2 || base64.len() / 4 * 3 - padding > MAX_DECODED_BYTES {
        return false;
    }
    let digits = &base64[..base64.len() - padding];
    let unused_bits = match padding {
        0 => 0,
        1 => 0b11,
        _ => 0b1111,
    };
    digits.iter().all(|byte| sextet(*byte).is_some())
        && digits
            .last()
            .and_then(|last| sextet(*last))
            .is_some_and(|last| last & unused_bits == 0)
}

const fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_base64_of_the_declared_type_is_accepted() {
        let png = "image/png";
        let rows = [
            ("AAAA", true),
            ("AAA=", true),
            ("AA==", true),
            ("data:image/png;base64,AAAA", true),
            ("data:IMAGE/PNG;charset=x;base64,AAAA", true),
            ("", false),
            ("AAA", false),
            ("A===", false),
            ("====", false),
            ("AB==", false),
            ("AAB=", false),
            ("AA=A", false),
            ("AA-_", false),
            ("data:image/jpeg;base64,AAAA", false),
            ("data:image/png,AAAA", false),
            ("file:///etc/passwd", false),
            ("https://example.test/a.png", false),
        ];
        for (data, expected) in rows {
            assert_eq!(encoded(png, data).is_some(), expected, "{data}");
        }
    }

    #[test]
    fn the_size_of_media_is_bounded() {
        let largest = "A".repeat(MAX_DECODED_BYTES / 3 * 4);
        assert!(encoded("image/png", &largest).is_some());
        let larger = "A".repeat(MAX_DECODED_BYTES / 3 * 4 + 8);
        assert!(encoded("image/png", &larger).is_none());
    }
}
