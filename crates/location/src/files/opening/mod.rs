//! Opens a canonical path without following symbolic links.
//!
//! Between the check of a path and its opening, another process can replace any component with a symbolic link.
//! Therefore `opencode_handles` opens everything through the directories that contain it.
//!
//! All functions in this module block on disk access.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use opencode_handles::{Directory as Held, Kind};
use opencode_schema::file_system::FileSystemEntryType;

/// An open directory, through which everything below it is opened. Each thread uses its own clone.
pub struct Directory {
    held: Arc<Held>,
    /// The directory of the last request. A walk requests many files of one directory in sequence.
    last: Option<(PathBuf, Held)>,
}

impl Clone for Directory {
    fn clone(&self) -> Self {
        Self {
            held: Arc::clone(&self.held),
            last: None,
        }
    }
}

impl Directory {
    /// Opens the directory at an absolute path without links.
    pub fn open(canonical: &Path) -> io::Result<Self> {
        Ok(Self {
            held: Arc::new(Held::open(canonical)?),
            last: None,
        })
    }

    /// Opens a regular file below this directory. Fails without blocking for anything else.
    /// `inode` is the inode number that the walk found, if there is one.
    pub fn open_file(&mut self, relative: &Path, inode: Option<u64>) -> io::Result<File> {
        let (parent, name) = self.parent(relative)?;
        // The walk has already seen the file.
        parent.open_seen_file(name, inode).map(|(file, _)| file)
    }

    /// Returns the kind of an entry below. `None` for a link and for anything other than a file or directory.
    pub fn kind(&mut self, relative: &Path) -> Option<FileSystemEntryType> {
        let (parent, name) = self.parent(relative).ok()?;
        entry_type(parent.stat(name).ok()??.kind)
    }

    /// Returns the names and kinds of the direct children.
    pub fn children(&self) -> io::Result<impl Iterator<Item = io::Result<Child>>> {
        let children = self.held.children()?;
        Ok(children.map(|child| {
            let opencode_handles::Child { name, kind } = child?;
            let kind = entry_type(kind);
            Ok(Child { name, kind })
        }))
    }

    fn parent<'s, 'p>(&'s mut self, relative: &'p Path) -> io::Result<(&'s Held, &'p OsStr)> {
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if parent.as_os_str().is_empty() {
            return Ok((&self.held, name));
        }
        if self.last.as_ref().is_none_or(|(last, _)| last != parent) {
            self.last = Some((parent.to_owned(), self.held.below(parent)?));
        }
        let last = self.last.as_ref().map(|(_, opened)| opened);
        Ok((last.unwrap_or(&self.held), name))
    }
}

/// A direct child of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its name.
    pub name: OsString,
    /// Its kind. `None` for a link and for anything other than a file or directory.
    pub kind: Option<FileSystemEntryType>,
}

/// Opens the regular file at an absolute path without links. Does not open anything else, because
/// opening a device can already have effects.
pub fn open_file(canonical: &Path) -> io::Result<File> {
    let (Some(parent), Some(name)) = (canonical.parent(), canonical.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Held::open(parent)?.open_file(name).map(|(file, _)| file)
}

fn entry_type(kind: Kind) -> Option<FileSystemEntryType> {
    match kind {
        Kind::File | Kind::Executable => Some(FileSystemEntryType::File),
        Kind::Directory => Some(FileSystemEntryType::Directory),
        Kind::Link | Kind::Other => None,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
