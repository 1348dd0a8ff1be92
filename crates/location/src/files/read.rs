//! Reads one complete file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::media_type::mime_of;
use super::opening::open_file;
use super::{FileSystemError, unreadable, within};

/// Maximum size in bytes of a file for clients. Every interface transfers the file as one piece.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The content of a file for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The media type according to the file name: a text type, otherwise `application/octet-stream`.
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

/// Reads a file up to one byte more than the limit, so that the caller detects larger files.
fn bytes_of(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The reported size of a file can differ from the number of bytes that can be read.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
