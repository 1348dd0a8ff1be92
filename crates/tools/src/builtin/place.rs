//! A file by the directory that holds it, which stays open, and its name there.
//!
//! Paths are judged before a person is asked, and the answer may take hours. So a change does not
//! go by the path once more: it walks to the directory without following any link, and everything
//! after that is relative to what it has hold of. Whoever puts a link in place of a component, at
//! whatever moment, makes the change fail instead of leading it elsewhere.
//!
//! A file is written beside its place and moved there, so that it is never seen half written and
//! a crash leaves the old content or the new one. It keeps its mode and its owner; a hard link keeps
//! the old content. Nothing is forced onto the disk: what a power failure leaves is up to the system.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::{
    ffi::OsString,
    fs::{File, Metadata},
    io::{self, Read, Write},
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

#[cfg(not(unix))]
use portable::{Directory, adopt};
#[cfg(unix)]
use unix::{Directory, adopt};

use crate::tool::ToolFailure;

/// The largest file whose content is taken into memory.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Why a file could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// Nothing there, something in the way, or a system that refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A directory, a device, a link that took the place of the file.
    #[error("it is not a regular file")]
    NotAFile,
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
            Self::Io(_) | Self::NotAFile => refused.to_owned(),
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
pub(crate) struct Existing {
    file: File,
    metadata: Metadata,
}

impl Existing {
    /// The whole content, unless it is longer than `limit`.
    pub(crate) fn read(&mut self, limit: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        (&self.file).take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(FileError::TooLarge);
        }
        Ok(bytes)
    }

    /// The first bytes, `count` if there are as many.
    pub(crate) fn head(&mut self, count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&self.file).take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Place {
    /// The place of a canonical path whose directory exists.
    pub(crate) fn open(canonical: &Path) -> Result<Self, FileError> {
        Self::walk(canonical, false)
    }

    /// The place of a canonical path; missing directories are created.
    pub(crate) fn prepare(canonical: &Path) -> Result<Self, FileError> {
        Self::walk(canonical, true)
    }

    fn walk(canonical: &Path, create: bool) -> Result<Self, FileError> {
        let (Some(directory), Some(name)) = (canonical.parent(), canonical.file_name()) else {
            return Err(FileError::NotAFile);
        };
        Ok(Self {
            directory: Directory::open(directory, create)?,
            name: name.to_owned(),
        })
    }

    /// The file, if there is one.
    pub(crate) fn existing(&self) -> Result<Option<Existing>, FileError> {
        let Some(file) = self.directory.open_file(&self.name)? else {
            return Ok(None);
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(FileError::NotAFile);
        }
        if metadata.permissions().readonly() {
            return Err(FileError::ReadOnly);
        }
        Ok(Some(Existing { file, metadata }))
    }

    /// The file, which has to exist.
    pub(crate) fn require(&self) -> Result<Existing, FileError> {
        let missing = || FileError::Io(io::ErrorKind::NotFound.into());
        self.existing()?.ok_or_else(missing)
    }

    /// Creates the file; fails where anything has its name.
    pub(crate) fn create(&self, content: &[u8]) -> Result<(), FileError> {
        let temporary = Temporary::create(&self.directory, false)?;
        (&temporary.file).write_all(content)?;
        self.directory.name_new(&temporary.name, &self.name)?;
        Ok(())
    }

    /// Puts `content` in the place of `existing`.
    pub(crate) fn replace(&self, existing: &Existing, content: &[u8]) -> Result<(), FileError> {
        let temporary = Temporary::create(&self.directory, true)?;
        (&temporary.file).write_all(content)?;
        adopt(&temporary.file, &existing.metadata)?;
        self.directory.replace(&temporary.name, &self.name)?;
        Ok(())
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

/// A file beside the place it is for. Dropping it removes its name, so that nothing stays behind
/// whatever goes wrong.
struct Temporary<'a> {
    directory: &'a Directory,
    name: OsString,
    file: File,
}

impl<'a> Temporary<'a> {
    /// Creates one, readable for its owner alone if it is `private`.
    fn create(directory: &'a Directory, private: bool) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".opencode-{}-{number}.tmp", process::id()));
            match directory.create_file(&name, private) {
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => {
                    return Ok(Self {
                        directory,
                        name,
                        file: file?,
                    });
                }
            }
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // It is gone where it was moved to its place.
        if let Err(error) = self.directory.remove(&self.name)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "a temporary file stays behind");
        }
    }
}
