//! Opening what a canonical path names, without following a link on the way.
//!
//! Between judging a path and opening it somebody may put a symbolic link in the place of any of its
//! components. Therefore everything is opened by way of the directories that hold it, as
//! `opencode_handles` does it.
//!
//! Everything here blocks on the disk.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use opencode_handles::{Directory as Held, Kind};
use opencode_schema::file_system::FileSystemEntryType;

/// A directory that is held open, and the way to everything below it. Each thread has its own clone.
pub struct Directory {
    held: Arc<Held>,
    /// The directory of the last request: a walk asks for many files of one directory in turn.
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
    /// Opens the directory at an absolute path, which has no links.
    pub fn open(canonical: &Path) -> io::Result<Self> {
        Ok(Self {
            held: Arc::new(Held::open(canonical)?),
            last: None,
        })
    }

    /// Opens a regular file below; everything else is refused, and nothing is waited for.
    pub fn open_file(&mut self, relative: &Path) -> io::Result<File> {
        let (parent, name) = self.parent(relative)?;
        // The walk has seen it.
        parent.open_seen_file(name).map(|(file, _)| file)
    }

    /// What stands below under a name; nothing for a link and for what is neither file nor directory.
    pub fn kind(&mut self, relative: &Path) -> Option<FileSystemEntryType> {
        let (parent, name) = self.parent(relative).ok()?;
        entry_type(parent.stat(name).ok()??.kind)
    }

    /// The names of the directory's children and what they are.
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
