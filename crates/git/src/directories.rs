//! The object directories of a repository: its own, and those that it borrows from (alternates).

use std::{
    io,
    path::{Path, PathBuf},
};

use opencode_handles::read_file;

use crate::object::damaged;

/// Maximum length of a chain of alternates. Git has the same limit.
const MAX_DEPTH: usize = 5;

/// Maximum number of directories.
const MAX_DIRECTORIES: usize = 64;

/// Maximum size of a list of alternates, in bytes.
const MAX_LIST_BYTES: u64 = 64 * 1024;

/// Returns an object directory and its alternates, each once.
///
/// # Errors
///
/// Fails if a list of alternates cannot be read, or if there are too many directories.
pub(crate) fn with_alternates(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    add(&mut found, directory.to_owned(), 0)?;
    Ok(found)
}

fn add(found: &mut Vec<PathBuf>, directory: PathBuf, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH || found.contains(&directory) {
        return Ok(());
    }
    if found.len() == MAX_DIRECTORIES {
        return Err(damaged("it borrows from too many repositories"));
    }
    let borrowed = borrowed(&directory)?;
    found.push(directory);
    for directory in borrowed {
        add(found, directory, depth + 1)?;
    }
    Ok(())
}

/// Returns the directories in the list of alternates. A relative path begins at the directory.
fn borrowed(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let list = read_file(&directory.join("info/alternates"), MAX_LIST_BYTES)?;
    let list = String::from_utf8(list.unwrap_or_default()).map_err(damaged)?;
    let names = list.lines().filter(|name| !name.is_empty());
    let names = names.filter(|name| !name.starts_with('#'));
    Ok(names.map(|name| directory.join(name)).collect())
}
