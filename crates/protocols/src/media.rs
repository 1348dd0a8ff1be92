//! Checks of attached files, and the notes that replace files that cannot be sent.

use opencode_llm::canonical::media_type::media_type as type_of;
use opencode_llm::canonical::model::Capabilities;
use opencode_llm::canonical::request::Media;

/// Size limits in bytes that all providers accept.
const MAX_ENCODED_BYTES: usize = 29_360_128;
const MAX_DECODED_BYTES: usize = 20_971_520;

const PDF: &str = "application/pdf";

/// Number of base64 digits that decide the type: those of [`HEAD_BYTES`](opencode_llm::HEAD_BYTES).
const HEAD_DIGITS: usize = 16;

/// A file that passed the checks: padded base64 within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoded<'a> {
    /// The media type, according to the first bytes.
    pub(super) media_type: &'static str,
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

    fn accepts(self, media_type: &str) -> bool {
        match media_type.split_once('/') {
            Some(("image", _)) => self.images,
            _ if media_type == PDF => self.pdf,
            _ => self.sounds.contains(&media_type),
        }
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
        let is_medium = media_type == PDF
            || media_type.starts_with("image/")
            || media_type.starts_with("audio/");
        let file = encoded(data).filter(|file| is_medium && reads.accepts(file.media_type));
        match file {
            Some(file) if file.media_type == PDF => Self::Pdf {
                filename: name.unwrap_or("document.pdf"),
                file,
            },
            Some(file) if file.media_type.starts_with("image/") => Self::Image(file),
            Some(file) => Self::Sound(file),
            None => Self::Note(unreadable(media_type, name)),
        }
    }
}

/// Checks a file given as base64 or as a `data:` URL. Its first bytes decide the type: an old or imported history can
/// declare a wrong one, and a provider would refuse every request with it.
fn encoded(data: &str) -> Option<Encoded<'_>> {
    let base64 = match data.strip_prefix("data:") {
        None => data,
        Some(url) => {
            let (head, content) = url.split_once(',')?;
            head.strip_suffix(";base64").map(|_| content)?
        }
    };
    if !is_canonical(base64.as_bytes()) {
        return None;
    }
    let head = base64.as_bytes().chunks(4).take(HEAD_DIGITS / 4);
    let head: Vec<u8> = head.flat_map(bytes_of).collect();
    let media_type = type_of(&head)?;
    Some(Encoded { media_type, base64 })
}

/// Returns the bytes of four digits of canonical base64.
fn bytes_of(digits: &[u8]) -> impl Iterator<Item = u8> + use<> {
    let padding = digits.iter().filter(|digit| **digit == b'=').count();
    let sextets = digits.iter().map(|digit| sextet(*digit).unwrap_or(0));
    let bits = sextets.fold(0_u32, |bits, sextet| bits << 6 | u32::from(sextet));
    let [_, bytes @ ..] = bits.to_be_bytes();
    bytes.into_iter().take(3 - padding)
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
    fn only_canonical_base64_of_media_is_accepted() {
        let rows = [
            ("iVBORw0KGgo=", Some("image/png")),
            ("/9j/", Some("image/jpeg")),
            ("R0lGODlh", Some("image/gif")),
            ("UklGRgAAAABXRUJQ", Some("image/webp")),
            ("UklGRgAAAABXQVZFZm10IA==", Some("audio/wav")),
            ("JVBERi0xLjc=", Some("application/pdf")),
            ("//s=", Some("audio/mpeg")),
            ("data:image/png;base64,/9j/", Some("image/jpeg")),
            ("data:image/jpg;charset=x;base64,/9j/", Some("image/jpeg")),
            ("data:;base64,/9j/", Some("image/jpeg")),
            ("AAAA", None),
            ("dGhpcyBpcyBubyBpbWFnZQ==", None),
            ("", None),
            ("iVBORw0KGgo", None),
            ("/9j/A===", None),
            ("//t=", None),
            ("_9j_", None),
            (" /9j/", None),
            ("data:image/jpeg,/9j/", None),
            ("file:///etc/passwd", None),
            ("https://example.test/a.png", None),
        ];
        for (data, expected) in rows {
            let found = encoded(data).map(|file| file.media_type);
            assert_eq!(found, expected, "{data}");
        }
    }

    #[test]
    fn the_size_of_media_is_bounded() {
        let of = |digits: usize| "/9j/".repeat(digits / 4);
        let largest = MAX_DECODED_BYTES / 3 * 4;
        assert!(encoded(&of(largest)).is_some());
        assert!(encoded(&of(largest + 8)).is_none());
    }
}
