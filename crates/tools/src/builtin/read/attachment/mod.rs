//! Reads a file or a directory that a prompt names: text of any encoding, the names in a directory, or media.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
    sync::Arc,
};

use opencode_llm::media_type;
use opencode_location::{
    config::ImageLimits,
    directory::Target,
    files::{media_type::mime_of, opening::open_file},
};
use tokio_util::sync::CancellationToken;

use super::{
    Kind, MAX_BYTES, MAX_COUNT, ReadError, directory::children, file::media, kind_of, page,
};
use crate::builtin::{
    blocking::blocking,
    text::{NotText, SAMPLE_BYTES, TextReader, recognize},
};
use crate::media::{Media, MediaError, Turn, turn};

/// Maximum number of bytes of a file that are searched for the requested lines.
const MAX_SEARCHED_BYTES: u64 = 64 * 1024 * 1024;

/// A file or directory to read. The caller has checked the permissions.
pub struct AttachmentRequest {
    /// The resolved path.
    pub target: Target,
    /// The lines of a text. `None` means all of them.
    pub lines: Option<Lines>,
    /// Limits of images.
    pub image_limits: ImageLimits,
    /// Ends the reading.
    pub cancel: CancellationToken,
}

/// A range of lines, counted from 1. Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    first: u64,
    last: u64,
}

impl Lines {
    /// Returns the range. Its ends are put in order, and line 0 counts as line 1.
    #[must_use]
    pub fn new(one: u64, other: u64) -> Self {
        Self {
            first: one.min(other).max(1),
            last: one.max(other).max(1),
        }
    }

    /// The first line.
    #[must_use]
    pub fn first(self) -> u64 {
        self.first
    }

    /// The last line.
    #[must_use]
    pub fn last(self) -> u64 {
        self.last
    }

    fn count(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }
}

/// The content of a file or directory.
#[derive(Debug)]
pub enum Attachment {
    /// Text, at most as much as one call of the tool `read` returns.
    Text {
        /// The text.
        text: String,
        /// The number of the line after it. `None` if the text is complete.
        next: Option<u64>,
    },
    /// The names in a directory, one per line. Directories come first and end with a slash.
    Directory {
        /// The names.
        names: String,
        /// Number of names that were left out.
        omitted: usize,
    },
    /// An image, a PDF document or a sound.
    Media(Media),
}

/// The reason why an attachment cannot be read. The text is the end of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum AttachmentError {
    /// Neither a file nor a directory, or it cannot be opened.
    #[error("there is no such file that the session can read")]
    NotFound,
    /// Neither text nor media.
    #[error(
        "it is a binary file of the type {mime} with {bytes} bytes, and neither text nor an image, a PDF or a sound"
    )]
    Binary {
        /// The type, according to its name.
        mime: &'static str,
        /// The size.
        bytes: u64,
    },
    /// Text that cannot be decoded.
    #[error("{0}")]
    NotText(String),
    /// Media that cannot be shown.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// The text does not have the first requested line.
    #[error("it has no line {0}, or that line is not in its first 64 MiB")]
    NoLine(u64),
}

/// Reads a file or directory.
pub async fn read_attachment(request: AttachmentRequest) -> Result<Attachment, AttachmentError> {
    let request = Arc::new(request);
    with_turn(move |turn| request.read(turn)).await
}

/// Blocks on a thread. Waits for the permission to decode an image only if the work needs it.
async fn with_turn<T: Send + 'static>(
    work: impl Fn(Option<&Turn>) -> Result<T, Failed> + Clone + Send + 'static,
) -> Result<T, AttachmentError> {
    let attempt = |turn: Option<Turn>| {
        let work = work.clone();
        blocking(move || work(turn.as_ref()))
    };
    let mut done = attempt(None).await;
    if let Ok(Err(Failed::NotItsTurn)) = done {
        done = attempt(turn().await).await;
    }
    match done {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(Failed::Because(error))) => Err(error),
        Ok(Err(Failed::NotItsTurn)) | Err(_) => Err(AttachmentError::NotFound),
    }
}

/// The reason why one attempt failed.
enum Failed {
    NotItsTurn,
    Because(AttachmentError),
}

impl From<AttachmentError> for Failed {
    fn from(error: AttachmentError) -> Self {
        Self::Because(error)
    }
}

impl AttachmentRequest {
    fn read(&self, turn: Option<&Turn>) -> Result<Attachment, Failed> {
        let path = &self.target.canonical;
        if !self.target.still_resolves() {
            return Err(AttachmentError::NotFound.into());
        }
        match kind_of(path) {
            Some(Kind::File) => self.file(path, turn),
            Some(Kind::Directory) => Ok(self.directory(path)?),
            None => Err(AttachmentError::NotFound.into()),
        }
    }

    fn directory(&self, path: &Path) -> Result<Attachment, AttachmentError> {
        let (directories, files) =
            children(path, &self.cancel).map_err(|_| AttachmentError::NotFound)?;
        let count = directories.len() + files.len();
        let mut names = String::new();
        let mut shown = 0;
        let directories = directories.into_iter().map(|name| name + "/");
        for name in directories.chain(files).take(MAX_COUNT) {
            if names.len() + name.len() >= MAX_BYTES {
                break;
            }
            names += &name;
            names.push('\n');
            shown += 1;
        }
        Ok(Attachment::Directory {
            names,
            omitted: count - shown,
        })
    }

    fn file(&self, path: &Path, turn: Option<&Turn>) -> Result<Attachment, Failed> {
        let unreadable = |_| AttachmentError::NotFound;
        // Another entry may have replaced the file since the check.
        let mut file = open_file(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let mut head = Vec::new();
        let mut beginning = file.by_ref().take(SAMPLE_BYTES as u64);
        beginning.read_to_end(&mut head).map_err(unreadable)?;
        if let Some(mime) = media_type(&head) {
            let media = media(mime, head, &file, size, turn).map_err(|error| match error {
                ReadError::NotItsTurn => Failed::NotItsTurn,
                ReadError::Media(error) => AttachmentError::from(error).into(),
                _ => AttachmentError::NotFound.into(),
            })?;
            let media = media.within(&self.image_limits, &self.cancel);
            return Ok(Attachment::Media(media.map_err(AttachmentError::from)?));
        }
        Ok(self.text(head, file, size)?)
    }

    fn text(&self, head: Vec<u8>, file: File, size: u64) -> Result<Attachment, AttachmentError> {
        let refused = |reason: NotText| match reason {
            NotText::Binary => AttachmentError::Binary {
                mime: mime_of(&self.target.canonical),
                bytes: size,
            },
            reason => AttachmentError::NotText(reason.to_string()),
        };
        let binary = || refused(NotText::Binary);
        let is_whole = head.len() < SAMPLE_BYTES;
        let charset = recognize(&head, true, is_whole).map_err(refused)?;
        if self.lines.is_none() && is_whole {
            let mut text = String::new();
            let read = TextReader::new(head.as_slice(), charset).read_to_string(&mut text);
            read.map_err(|_| AttachmentError::NotFound)?;
            if text.contains('\0') {
                return Err(binary());
            }
            if text.len() <= MAX_BYTES && text.lines().count() <= MAX_COUNT {
                return Ok(Attachment::Text { text, next: None });
            }
        }
        let lines = self.lines.unwrap_or(Lines::new(1, u64::MAX));
        let limit = lines.count().min(MAX_COUNT as u64) as usize;
        let bytes = head.as_slice().chain(file).take(MAX_SEARCHED_BYTES);
        let text = BufReader::new(TextReader::new(bytes, charset));
        match page::read(text, lines.first, limit, &self.cancel) {
            Ok(page) => Ok(Attachment::Text {
                text: page.content,
                // The end of the requested lines is not a cut.
                next: page.next.filter(|next| *next <= lines.last),
            }),
            Err(ReadError::Binary) => Err(binary()),
            Err(ReadError::NotText(reason)) => Err(refused(reason)),
            Err(_) => Err(AttachmentError::NoLine(lines.first)),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
