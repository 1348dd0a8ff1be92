//! Lists the direct children of a directory.

use std::path::Path;

use opencode_schema::file_system::{FileSystemEntry, FileSystemEntryType};

use super::collation::sort;
use super::opening::Directory;
use super::{FileSystemError, unreadable, within};

/// Maximum number of children of a listed directory. All of them have to be sorted, so larger directories are rejected.
pub const MAX_CHILDREN: usize = 100_000;

pub(super) fn list(location: &Path, path: &str) -> Result<Vec<FileSystemEntry>, FileSystemError> {
    let target = within(location, path)?;
    let refused = |error| unreadable(path, &error);
    let found = target.canonical.symlink_metadata().map_err(refused)?;
    if !found.is_dir() {
        return Err(FileSystemError::NotADirectory(path.to_owned()));
    }
    let directory = Directory::open(&target.canonical).map_err(refused)?;
    let (mut directories, mut files) = (Vec::new(), Vec::new());
    for (index, child) in directory.children().map_err(refused)?.enumerate() {
        if index == MAX_CHILDREN {
            return Err(FileSystemError::TooManyEntries {
                path: path.to_owned(),
            });
        }
        let child = child.map_err(refused)?;
        let name = || child.name.to_string_lossy().into_owned();
        match child.kind {
            Some(FileSystemEntryType::Directory) => directories.push(name()),
            Some(FileSystemEntryType::File) => files.push(name()),
            None => {}
        }
    }
    sort(&mut directories);
    sort(&mut files);
    let prefix = match target.resource.as_str() {
        "." => String::new(),
        below => format!("{below}/"),
    };
    let directories = directories.iter().map(|name| FileSystemEntry {
        path: format!("{prefix}{name}/"),
        r#type: FileSystemEntryType::Directory,
    });
    let files = files.iter().map(|name| FileSystemEntry {
        path: format!("{prefix}{name}"),
        r#type: FileSystemEntryType::File,
    });
    Ok(directories.chain(files).collect())
}
