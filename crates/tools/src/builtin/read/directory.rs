//! Lists the direct children of a directory in pages.

use std::{ffi::OsStr, fs, path::Path};

use opencode_location::files::{collation::sort, opening::Directory};
use opencode_schema::file_system::FileSystemEntryType;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Kind, Paging, ReadError, kind_of};
use crate::contract::tool::ToolOutput;
use crate::failure::ToolFailure;

/// Maximum number of children. A larger directory is refused, because any page requires sorting all
/// children.
const MAX_CHILDREN: usize = 100_000;

#[derive(Serialize)]
struct Listing {
    entries: Vec<Entry>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

#[derive(Serialize)]
struct Entry {
    path: String,
    r#type: &'static str,
}

/// Lists `directory`, including hidden children. A link counts as its target, and is left out if its
/// target is not in this directory.
pub(super) fn list(
    directory: &Path,
    paging: Paging,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ReadError> {
    let (directories, files) = children(directory, cancel)?;
    Ok(ToolOutput::encode(&page(directories, files, paging))?)
}

/// Returns the names of the directories and of the files in `directory`, each sorted.
pub(super) fn children(
    directory: &Path,
    cancel: &CancellationToken,
) -> Result<(Vec<String>, Vec<String>), ReadError> {
    let mut directories = Vec::new();
    let mut files = Vec::new();
    // Another entry may have replaced the directory since the check.
    let held = Directory::open(directory)?;
    for (index, child) in held.children()?.enumerate() {
        if cancel.is_cancelled() {
            return Err(ReadError::Output(ToolFailure::Interrupted));
        }
        if index == MAX_CHILDREN {
            return Err(ReadError::Unreadable(format!(
                "the directory has more than {MAX_CHILDREN} entries. Use glob"
            )));
        }
        let child = child?;
        let name = child.name.to_string_lossy().into_owned();
        match child.kind.or_else(|| linked(directory, &child.name)) {
            Some(FileSystemEntryType::Directory) => directories.push(name),
            Some(FileSystemEntryType::File) => files.push(name),
            None => {}
        }
    }
    sort(&mut directories);
    sort(&mut files);
    Ok((directories, files))
}

/// Returns the kind of a link's target.
fn linked(directory: &Path, name: &OsStr) -> Option<FileSystemEntryType> {
    // Both paths need the form that `canonicalize` returns, which differs on Windows.
    let target = fs::canonicalize(directory.join(name)).ok()?;
    if !target.starts_with(fs::canonicalize(directory).ok()?) {
        return None;
    }
    match kind_of(&target)? {
        Kind::File => Some(FileSystemEntryType::File),
        Kind::Directory => Some(FileSystemEntryType::Directory),
    }
}

fn page(directories: Vec<String>, files: Vec<String>, paging: Paging) -> Listing {
    let total = (directories.len() + files.len()) as u64;
    let skipped = usize::try_from(paging.offset() - 1).unwrap_or(usize::MAX);
    let end = paging.offset().saturating_add(paging.limit() as u64);
    let directories = directories.into_iter().map(|name| Entry {
        path: name + "/",
        r#type: "directory",
    });
    let files = files.into_iter().map(|path| Entry {
        path,
        r#type: "file",
    });
    Listing {
        entries: directories
            .chain(files)
            .skip(skipped)
            .take(paging.limit())
            .collect(),
        truncated: end <= total,
        next: (end <= total).then_some(end),
    }
}
