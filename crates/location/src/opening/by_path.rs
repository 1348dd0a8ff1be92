//! Without handles of directories: a path is opened and then checked to lead where it seems to.

use std::{
    fs::{self, File, FileType, ReadDir},
    io,
    path::{Path, PathBuf},
};

use opencode_schema::file_system::FileSystemEntryType;

use super::Child;
use crate::containment::real_path;

#[derive(Clone)]
pub(super) struct Held(PathBuf);

impl Held {
    pub(super) fn open(canonical: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(canonical)?.is_dir() {
            unlinked(canonical)?;
            Ok(Self(canonical.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub(super) fn open_file(&mut self, relative: &Path) -> io::Result<File> {
        let path = self.0.join(relative);
        let file = File::open(&path)?;
        unlinked(&path)?;
        Ok(file)
    }

    pub(super) fn kind(&mut self, relative: &Path) -> Option<FileSystemEntryType> {
        let path = self.0.join(relative);
        let found = fs::symlink_metadata(&path).ok()?;
        unlinked(&path).ok()?;
        kind(found.file_type())
    }

    pub(super) fn children(&self) -> io::Result<impl Iterator<Item = io::Result<Child>>> {
        let entries: ReadDir = fs::read_dir(&self.0)?;
        unlinked(&self.0)?;
        Ok(entries.map(|entry| {
            let entry = entry?;
            Ok(Child {
                name: entry.file_name(),
                kind: kind(entry.file_type()?),
            })
        }))
    }
}

fn unlinked(path: &Path) -> io::Result<()> {
    if real_path(path)? == path {
        Ok(())
    } else {
        Err(io::Error::other("a link took the place of a directory"))
    }
}

fn kind(found: FileType) -> Option<FileSystemEntryType> {
    if found.is_file() {
        Some(FileSystemEntryType::File)
    } else {
        found.is_dir().then_some(FileSystemEntryType::Directory)
    }
}
