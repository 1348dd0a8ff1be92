//! A file by the directory that holds it, which stays open, and its name there.
//!
//! Paths are judged before a person is asked, and the answer may take hours. So a change does not
//! go by the path once more, but by a [`Directory`] that is opened through no link.
//!
//! A file is written beside its place and moved there. It keeps its mode and its owner; a hard link
//! keeps the old content.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    path::Path,
};

use opencode_handles::{Directory, is_open_database};

use crate::failure::ToolFailure;

/// The largest file whose content is taken into memory.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Why a file could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// Nothing there, something in the way that is no regular file, or a system that refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Nobody may write the file. The superuser could, but somebody meant something by that.
    #[error("the file is read-only")]
    ReadOnly,
    /// Over [`MAX_FILE_BYTES`] or [`MAX_LINES`](super::text::MAX_LINES), before or after the change.
    #[error("the file is over the 16 MiB or the million lines that can be edited")]
    TooLarge,
    /// What it holds is not UTF-8, or has NUL characters.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// Somebody else wrote the file meanwhile.
    #[error("the file changed after the change was approved. Read it again first")]
    Changed,
}

impl FileError {
    /// What the model is told, where `refused` is the tool's generic text: more than that only
    /// where it can do something about it.
    pub(crate) fn message(self, refused: &str) -> String {
        tracing::debug!(error = %self, "a file was not changed");
        match self {
            Self::Io(error) if !is_open_database(&error) => refused.to_owned(),
            reason => format!("{refused}: {reason}"),
        }
    }

    /// The failure of a call that has this text.
    pub(crate) fn into_failure(self, refused: &str) -> ToolFailure {
        ToolFailure::new(self.message(refused))
    }
}

/// Where a file is, or may be created.
pub(crate) struct Place {
    directory: Directory,
    name: OsString,
}

/// A regular file that may be written.
pub(crate) struct Existing(File);

impl Existing {
    /// The whole content, unless it is longer than `limit`.
    pub(crate) fn read(&mut self, limit: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        (&self.0).take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(FileError::TooLarge);
        }
        Ok(bytes)
    }

    /// The first bytes, `count` if there are as many.
    pub(crate) fn head(&mut self, count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&self.0).take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Place {
    /// The place of a canonical path whose directory exists.
    pub(crate) fn open(canonical: &Path) -> Result<Self, FileError> {
        Self::within(Directory::open, canonical)
    }

    /// The place of a canonical path; missing directories are created.
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

    /// The file, if there is one.
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

    /// The file, which has to exist.
    pub(crate) fn require(&self) -> Result<Existing, FileError> {
        let missing = || FileError::Io(io::ErrorKind::NotFound.into());
        self.existing()?.ok_or_else(missing)
    }

    /// Creates the file; fails where anything has its name.
    pub(crate) fn create(&self, content: &[u8]) -> Result<(), FileError> {
        Ok(self.directory.create_file(&self.name, content)?)
    }

    /// Puts `content` in the place of `existing`.
    pub(crate) fn replace(&self, existing: &Existing, content: &[u8]) -> Result<(), FileError> {
        let replaced = &existing.0;
        Ok(self.directory.replace_file(&self.name, content, replaced)?)
    }

    /// Puts `content` in the place of the file if that still holds `original`.
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
