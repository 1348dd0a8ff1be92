//! A file, given by its open directory and its name there.
//!
//! A path is checked before the user is asked, and the answer may take hours. So a change does not
//! resolve the path again, but uses a [`Directory`] that was opened without following links.
//!
//! A file is written under a temporary name and then moved to its place. It keeps its mode and owner; a
//! hard link keeps the old content.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    path::Path,
};

use opencode_handles::Directory;

use super::reasons::of_io;
use super::text::{NotText, Unencodable};
use crate::failure::ToolFailure;

/// Maximum size, in bytes, of a file with content that is read into memory.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Reason why a file could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The file does not exist, another kind of entry has its name, or the system refuses the access.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file has no write permission. The superuser could write it, but the missing permission is
    /// intended.
    #[error("the file is read-only")]
    ReadOnly,
    /// Over [`MAX_FILE_BYTES`] or [`MAX_LINES`](super::text::MAX_LINES), before or after the change.
    #[error("the file is over the 16 MiB or the million lines that can be edited")]
    TooLarge,
    /// The content is not text, or its encoding is not certain.
    #[error(transparent)]
    NotText(NotText),
    /// The encoding of the file does not have the new text.
    #[error(transparent)]
    Unencodable(#[from] Unencodable),
    /// The file was changed by another writer in the meantime.
    #[error("the file changed after the change was approved. Read it again first")]
    Changed,
}

impl From<NotText> for FileError {
    fn from(reason: NotText) -> Self {
        match reason {
            NotText::TooManyLines => Self::TooLarge,
            reason => Self::NotText(reason),
        }
    }
}

impl FileError {
    /// Returns the message for the model. `refused` is the tool's generic text.
    pub(crate) fn message(self, refused: &str) -> String {
        tracing::debug!(error = %self, "a file was not changed");
        match self {
            Self::Io(error) => format!("{refused}: {}", of_io(&error)),
            reason => format!("{refused}: {reason}"),
        }
    }

    /// Returns the failure of a call with this message.
    pub(crate) fn into_failure(self, refused: &str) -> ToolFailure {
        ToolFailure::new(self.message(refused))
    }
}

/// The location of a file that exists or may be created.
pub(crate) struct Place {
    directory: Directory,
    name: OsString,
}

/// A regular file that may be written.
pub(crate) struct Existing(File);

impl Existing {
    /// Returns the whole content. Fails if it is longer than `limit`.
    pub(crate) fn read(&mut self, limit: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        (&self.0).take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(FileError::TooLarge);
        }
        Ok(bytes)
    }
}

impl Place {
    /// Opens the place of a canonical path. Its directory must exist.
    pub(crate) fn open(canonical: &Path) -> Result<Self, FileError> {
        Self::within(Directory::open, canonical)
    }

    /// Opens the place of a canonical path and creates missing directories.
    pub(crate) fn prepare(canonical: &Path) -> Result<Self, FileError> {
        Self::within(Directory::prepare, canonical)
    }

    fn within(
        open: impl Fn(&Path) -> io::Result<Directory>,
        canonical: &Path,
    ) -> Result<Self, FileError> {
        let (Some(directory), Some(name)) = (canonical.parent(), canonical.file_name()) else {
            return Err(FileError::Io(io::ErrorKind::InvalidInput.into()));
        };
        Ok(Self {
            directory: open(directory)?,
            name: name.to_owned(),
        })
    }

    /// Opens the file if it exists.
    pub(crate) fn existing(&self) -> Result<Option<Existing>, FileError> {
        let file = match self.directory.open_file_to_change(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        if file.metadata()?.permissions().readonly() {
            return Err(FileError::ReadOnly);
        }
        Ok(Some(Existing(file)))
    }

    /// Opens the file. Fails if it does not exist.
    pub(crate) fn require(&self) -> Result<Existing, FileError> {
        let missing = || FileError::Io(io::ErrorKind::NotFound.into());
        self.existing()?.ok_or_else(missing)
    }

    /// Creates the file. Fails if any entry has its name.
    pub(crate) fn create(&self, content: &[u8]) -> Result<(), FileError> {
        Ok(self.directory.create_file(&self.name, content)?)
    }

    /// Replaces `existing` with a file with `content`.
    pub(crate) fn replace(&self, existing: &Existing, content: &[u8]) -> Result<(), FileError> {
        let replaced = &existing.0;
        Ok(self.directory.replace_file(&self.name, content, replaced)?)
    }

    /// Replaces the file with `content` if it still contains `original`.
    pub(crate) fn replace_unchanged(
        &self,
        original: &[u8],
        content: &[u8],
    ) -> Result<(), FileError> {
        let mut existing = self.require()?;
        match existing.read(original.len() as u64) {
            Ok(now) if now == original => self.replace(&existing, content),
            Ok(_) | Err(FileError::TooLarge) => Err(FileError::Changed),
            Err(error) => Err(error),
        }
    }

    /// Removes the file.
    pub(crate) fn delete(&self) -> Result<(), FileError> {
        self.require()?;
        self.directory.remove(&self.name)?;
        Ok(())
    }
}
