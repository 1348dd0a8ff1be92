//! Handles of directories, as Unix has them.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use opencode_schema::file_system::FileSystemEntryType;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};

use super::Child;

/// A directory on the way needs to be passed, not read, where a system knows the difference.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASSING: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASSING: OFlags = OFlags::RDONLY;

pub(super) struct Held {
    directory: Arc<OwnedFd>,
    /// The directory of the last request: a walk asks for many files of one directory in turn.
    last: Option<(PathBuf, OwnedFd)>,
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self {
            directory: Arc::clone(&self.directory),
            last: None,
        }
    }
}

impl Held {
    pub(super) fn open(canonical: &Path) -> io::Result<Self> {
        let root = rustix::fs::open(
            "/",
            PASSING | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let below = canonical.strip_prefix("/").map_err(io::Error::other)?;
        Ok(Self {
            directory: Arc::new(descend(root.as_fd(), below)?.unwrap_or(root)),
            last: None,
        })
    }

    pub(super) fn open_file(&mut self, relative: &Path) -> io::Result<File> {
        let (parent, name) = self.parent(relative)?;
        // Without waiting: a FIFO would do so until somebody writes into it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat(parent, name, flags | OFlags::CLOEXEC, Mode::empty())?;
        Ok(file.into())
    }

    pub(super) fn kind(&mut self, relative: &Path) -> Option<FileSystemEntryType> {
        let (parent, name) = self.parent(relative).ok()?;
        kind_in(parent, name)
    }

    pub(super) fn children(&self) -> io::Result<impl Iterator<Item = io::Result<Child>>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = openat(&self.directory, ".", flags, Mode::empty())?;
        let entries = Dir::new(readable)?;
        let directory = Arc::clone(&self.directory);
        let children = entries.map(move |entry| {
            let entry = entry?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            let kind = match entry.file_type() {
                // Some file systems do not tell.
                FileType::Unknown => kind_in(directory.as_fd(), &name),
                known => kind(known),
            };
            Ok(Child { name, kind })
        });
        Ok(children.filter(|child| {
            let name = child.as_ref().map(|child| child.name.as_os_str());
            !name.is_ok_and(|name| name == "." || name == "..")
        }))
    }

    fn parent<'s, 'p>(&'s mut self, relative: &'p Path) -> io::Result<(BorrowedFd<'s>, &'p OsStr)> {
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if parent.as_os_str().is_empty() {
            return Ok((self.directory.as_fd(), name));
        }
        if self.last.as_ref().is_none_or(|(last, _)| last != parent) {
            let opened = descend(self.directory.as_fd(), parent)?;
            self.last = opened.map(|opened| (parent.to_owned(), opened));
        }
        let last = self.last.as_ref().map(|(_, opened)| opened.as_fd());
        Ok((last.unwrap_or(self.directory.as_fd()), name))
    }
}

/// The directory that `below` names; nothing when that is where it starts.
fn descend(start: BorrowedFd<'_>, below: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = PASSING | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut current: Option<OwnedFd> = None;
    for component in below.components() {
        let Component::Normal(name) = component else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let place = current.as_ref().map_or(start, AsFd::as_fd);
        current = Some(openat(place, name, flags, Mode::empty())?);
    }
    Ok(current)
}

fn kind_in(directory: BorrowedFd<'_>, name: &OsStr) -> Option<FileSystemEntryType> {
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    kind(FileType::from_raw_mode(found.st_mode))
}

fn kind(found: FileType) -> Option<FileSystemEntryType> {
    match found {
        FileType::RegularFile => Some(FileSystemEntryType::File),
        FileType::Directory => Some(FileSystemEntryType::Directory),
        _ => None,
    }
}
