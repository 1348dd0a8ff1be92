//! The direct children of a directory, a page at a time.

use std::{ffi::OsStr, fs, path::Path};

use opencode_location::{collation::sort, opening::Directory};
use opencode_schema::file_system::FileSystemEntryType;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{Kind, Paging, ReadError, kind_of};
use crate::contract::tool::ToolOutput;

/// A directory with more children is refused: all of them have to be sorted to find any page.
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

/// Lists `directory`, hidden children included. A link counts as what it leads to, and is left out
/// when that is not in this directory.
pub(super) fn list(
    directory: &Path,
    paging: Paging,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ReadError> {
    let mut directories = Vec::new();
    let mut files = Vec::new();
    // Something else may have taken its place since it was looked at.
    let held = Directory::open(directory)?;
    for (index, child) in held.children()?.enumerate() {
        if cancel.is_cancelled() || index == MAX_CHILDREN {
            return Err(ReadError::Unreadable);
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
    Ok(ToolOutput::encode(&page(directories, files, paging))?)
}

/// What a link leads to.
fn linked(directory: &Path, name: &OsStr) -> Option<FileSystemEntryType> {
    // Both sides in the form of this one function, which has its own on Windows.
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
