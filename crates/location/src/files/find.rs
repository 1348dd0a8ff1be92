//! Finds paths that resemble a text.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::WalkState;
use opencode_schema::file_system::{FileSystemEntry, FileSystemEntryType};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::opening::Directory;
use super::rank::{Distance, Query};
use super::walk;
use super::{FileSystemError, unreadable, within};

/// Number of entries to find if the caller gives no limit.
pub const DEFAULT_FOUND: usize = 50;

/// Maximum number of entries to find.
pub const MAX_FOUND: usize = 1000;

/// Maximum number of visited files and directories. In a larger tree, some are not found.
const MAX_VISITED: usize = 2_000_000;

/// A matching path. Ordered like the entries in the result.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    distance: Distance,
    length: usize,
    shown: String,
    path: PathBuf,
    is_directory: bool,
}

pub(super) fn find(
    location: &Path,
    query: &str,
    kind: Option<FileSystemEntryType>,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Vec<FileSystemEntry>, FileSystemError> {
    let root = within(location, "")?.canonical;
    let refused = |error| unreadable(".", &error);
    let mut directory = Directory::open(&root).map_err(refused)?;
    let mut walk = walk::below(&root).map_err(refused)?;
    walk.hidden(false);
    let query = Query::new(query);
    let visited = AtomicUsize::new(0);
    let found = Mutex::new(BTreeSet::new());
    walk::run(&walk, &root, cancel, || {
        |path: &Path, entry: walk::Entry| {
            let is = entry.kind;
            if visited.fetch_add(1, Ordering::Relaxed) >= MAX_VISITED {
                return WalkState::Quit;
            }
            if kind.is_none_or(|kind| kind == is)
                && let Some(candidate) = Candidate::new(&query, path, is)
            {
                keep(&mut lock(&found), candidate, limit);
            }
            WalkState::Continue
        }
    });
    let found = found.into_inner();
    let entries = found.into_iter().filter_map(|found| {
        // A link may have misdirected the walk, so the kind of each entry is checked again.
        let is = directory.kind(&found.path)?;
        let is_same = (is == FileSystemEntryType::Directory) == found.is_directory;
        is_same.then(|| found.entry())
    });
    Ok(entries.collect())
}

impl Candidate {
    fn new(query: &Query, path: &Path, is: FileSystemEntryType) -> Option<Self> {
        let shown = walk::sort_key(path);
        let shown = String::from_utf8_lossy(&shown);
        let distance = query.distance(&shown)?;
        Some(Self {
            distance,
            length: shown.chars().count(),
            shown: shown.into_owned(),
            path: path.to_owned(),
            is_directory: is == FileSystemEntryType::Directory,
        })
    }

    fn entry(self) -> FileSystemEntry {
        if self.is_directory {
            FileSystemEntry {
                path: self.shown + "/",
                r#type: FileSystemEntryType::Directory,
            }
        } else {
            FileSystemEntry {
                path: self.shown,
                r#type: FileSystemEntryType::File,
            }
        }
    }
}

fn keep(found: &mut BTreeSet<Candidate>, candidate: Candidate, limit: usize) {
    if found.len() < limit {
        found.insert(candidate);
    } else if found.last().is_some_and(|last| candidate < *last) {
        found.insert(candidate);
        found.pop_last();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}
