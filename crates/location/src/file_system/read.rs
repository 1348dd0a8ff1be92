//! One file, whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{FileSystemError, unreadable, within};
use crate::media_type::mime_of;
use crate::opening::open_file;

/// The largest file that is handed out: it crosses every border in one piece.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A file as a client gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// What its name says about them: a type of text, else `application/octet-stream`.
    pub media_type: &'static str,
}

pub(super) fn read(location: &Path, path: &str) -> Result<FileContent, FileSystemError> {
    let target = within(location, path)?;
    match target.canonical.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(FileSystemError::NotAFile(path.to_owned())),
        Err(error) => return Err(unreadable(path, &error)),
    }
    let bytes = open_file(&target.canonical).and_then(bytes_of);
    let bytes = bytes.map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileSystemError::TooLarge {
            path: path.to_owned(),
        });
    }
    let media_type = mime_of(&target.canonical);
    Ok(FileContent {
        bytes,
        media_type: if media_type.starts_with("text/") {
            media_type
        } else {
            "application/octet-stream"
        },
    })
}

/// The bytes of a file, or more than are handed out when it has more.
fn bytes_of(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The size that a file tells need not be how much can be read from it.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
