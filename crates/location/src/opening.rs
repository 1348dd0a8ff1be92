//! Opening what a canonical path names, without following a link on the way.
//!
//! Between judging a path and opening it somebody may put a symbolic link in the place of any of its
//! components. Therefore every component is opened by itself, below the one before it, and a link
//! among them is a failure. What was opened once stays what it was.
//!
//! Everything here blocks on the disk.

#[cfg(unix)]
mod by_handle;
#[cfg(not(unix))]
mod by_path;

use std::{ffi::OsString, fs::File, io, path::Path};

use opencode_schema::file_system::FileSystemEntryType;

#[cfg(unix)]
use by_handle::Held;
#[cfg(not(unix))]
use by_path::Held;

/// A directory that is held open, and the way to everything below it. Each thread has its own clone.
#[derive(Clone)]
pub struct Directory(Held);

impl Directory {
    /// Opens the directory at an absolute path, which has no links.
    pub fn open(canonical: &Path) -> io::Result<Self> {
        Held::open(canonical).map(Self)
    }

    /// Opens a regular file below; everything else is refused, and nothing is waited for.
    pub fn open_file(&mut self, relative: &Path) -> io::Result<File> {
        self.0.open_file(relative).and_then(regular)
    }

    /// What stands below under a name; nothing for a link and for what is neither file nor directory.
    pub fn kind(&mut self, relative: &Path) -> Option<FileSystemEntryType> {
        self.0.kind(relative)
    }

    /// The names of the directory's children and what they are.
    pub fn children(&self) -> io::Result<impl Iterator<Item = io::Result<Child>>> {
        self.0.children()
    }
}

/// What stands directly in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its name.
    pub name: OsString,
    /// What it is; nothing for a link and for what is neither file nor directory.
    pub kind: Option<FileSystemEntryType>,
}

/// Opens the regular file at an absolute path, which has no links. Nothing else is even opened: to
/// open a device may already do something.
pub fn open_file(canonical: &Path) -> io::Result<File> {
    let (Some(parent), Some(name)) = (canonical.parent(), canonical.file_name()) else {
        return Err(irregular());
    };
    let mut parent = Directory::open(parent)?;
    let name = Path::new(name);
    match parent.kind(name) {
        Some(FileSystemEntryType::File) => parent.open_file(name),
        _ => Err(irregular()),
    }
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(irregular())
    }
}

fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
