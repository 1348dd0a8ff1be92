//! User content: text, images, sounds, PDF files, and notes that replace other files.

use std::borrow::Cow;

use opencode_llm::canonical::request::Part;
use serde::Serialize;

use super::dialect::Dialect;
use crate::blank::is_blank;
use crate::media::Attachment;

/// One piece of user content, ready to be written.
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// The replacement of a file that the model cannot read.
    Note(String),
    Image(String),
    Sound {
        format: &'static str,
        base64: &'a str,
    },
    Pdf {
        filename: &'a str,
        data: String,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    InputAudio { input_audio: InputAudio<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

#[derive(Serialize)]
struct InputAudio<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: &'a str,
}

impl Piece<'_> {
    /// True if content with this piece can stay a plain string.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Note(_))
    }

    /// True for a text without visible characters.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if is_blank(text))
    }

    /// Returns the piece as an element of a content array.
    pub(super) fn wire(&self) -> impl Serialize + '_ {
        match self {
            Self::Text(text) => WirePart::Text {
                text: Cow::Borrowed(text),
            },
            Self::Note(text) => WirePart::Text {
                text: Cow::Borrowed(text),
            },
            Self::Image(url) => WirePart::ImageUrl {
                image_url: ImageUrl { url },
            },
            Self::Sound { format, base64 } => WirePart::InputAudio {
                input_audio: InputAudio {
                    data: base64,
                    format,
                },
            },
            Self::Pdf { filename, data } => WirePart::File {
                file: File {
                    filename,
                    file_data: data,
                },
            },
        }
    }
}

/// Returns the pieces of a user message.
pub(super) fn pieces<'a>(content: &'a [Part], dialect: &Dialect) -> Vec<Piece<'a>> {
    content
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(Piece::Text(&text.text)),
            Part::Media(media) => Some(file_piece(Attachment::of(media, dialect.reads))),
            _ => None,
        })
        .collect()
}

/// Returns text-only content as one string. Texts are concatenated directly; a note has its own lines.
pub(super) fn joined(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    let mut after_note = false;
    for piece in pieces {
        let (text, is_note) = match piece {
            Piece::Text(text) => (*text, false),
            Piece::Note(text) => (text.as_str(), true),
            Piece::Image(_) | Piece::Sound { .. } | Piece::Pdf { .. } => continue,
        };
        if (is_note || after_note) && !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text);
        after_note = is_note;
    }
    out
}

/// Converts a file to a piece.
pub(super) fn file_piece(file: Attachment<'_>) -> Piece<'_> {
    match file {
        Attachment::Image(file) => Piece::Image(file.data_url()),
        Attachment::Sound(file) => Piece::Sound {
            format: match file.media_type {
                "audio/mpeg" => "mp3",
                _ => "wav",
            },
            base64: file.base64,
        },
        Attachment::Pdf { filename, file } => Piece::Pdf {
            filename,
            data: file.data_url(),
        },
        Attachment::Note(note) => Piece::Note(note),
    }
}
