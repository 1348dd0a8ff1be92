//! Removing what nobody needs any more.
//!
//! An object stays while somebody may build on it. Those of the snapshots that the caller names are
//! known. For all others, of other hosts with the same store too, the time of the file decides: whoever
//! captures looks after the objects at hand once a day, before they are used.

use std::{
    collections::HashSet,
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use git2::Oid;

use crate::cache::LIST;
use crate::entry::Swept;
use crate::error::SnapshotError;
use crate::objects::{Objects, TEMPORARY};
use crate::{compare, lock, tree};

/// How many files one sweep removes at most; the next goes on.
const MAX_REMOVED: u64 = 50_000;

/// A temporary file that is older than this belongs to nobody.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// Removes what is older than that, but for what belongs to the snapshots in `keep`.
pub(crate) fn sweep(
    store: &Path,
    older_than: Duration,
    keep: &[String],
) -> Result<Swept, SnapshotError> {
    let mut swept = Swept::default();
    let directory = store.join("objects");
    if !directory.is_dir() {
        return Ok(swept);
    }
    let kept = kept(&directory, keep)?;
    let now = SystemTime::now();
    let Some(limit) = now.checked_sub(older_than) else {
        return Ok(swept);
    };
    let abandoned = now.checked_sub(ABANDONED).unwrap_or(limit);
    let failed = || SnapshotError::io(directory.display().to_string());
    for folder in folders(&directory).map_err(failed())? {
        // For a moment only, so that captures do not wait for all of it.
        let _lock = lock::exclusive(store)?;
        for (entry, what) in entries(&folder).map_err(failed())? {
            let (limit, is_kept) = match what {
                What::Object(id) => (limit, kept.contains(&id)),
                What::List => (limit, false),
                What::Temporary => (abandoned, false),
            };
            let goes = !is_kept && swept.removed < MAX_REMOVED;
            let is_gone = goes && remove(&entry, limit, &mut swept);
            if matches!(what, What::Object(_)) && !is_gone {
                swept.kept += 1;
            }
        }
    }
    Ok(swept)
}

/// All that is known to be needed.
fn kept(objects: &Path, keep: &[String]) -> Result<HashSet<Oid>, SnapshotError> {
    // Trees are all ours, so that a worktree that is gone has its snapshots swept, too.
    let objects = Objects::new(objects.to_owned(), PathBuf::new(), Arc::default());
    let mut kept = HashSet::new();
    for id in keep {
        match compare::collect(&objects, tree::id(id)?, &mut kept) {
            // One that is gone already keeps nothing.
            Ok(()) | Err(SnapshotError::Missing(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(kept)
}

/// The folders that objects are in, and the store's own for its temporary files.
fn folders(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders: Vec<_> = directory.parent().map(Into::into).into_iter().collect();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// What is looked at in a store.
enum What {
    Object(Oid),
    /// A list of files, which is made again where it is missed.
    List,
    Temporary,
}

/// What a folder holds of a store. Nothing else in it is looked at.
fn entries(folder: &Path) -> io::Result<Vec<(DirEntry, What)>> {
    let prefix = folder.file_name().and_then(|name| name.to_str());
    let prefix = prefix.filter(|prefix| prefix.len() == 2);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let object = |prefix: &str| Oid::from_str(&format!("{prefix}{name}")).ok();
        let what = if name.starts_with(TEMPORARY) {
            What::Temporary
        } else if name.starts_with(LIST) {
            What::List
        } else if let Some(id) = prefix.filter(|_| name.len() == 38).and_then(object) {
            What::Object(id)
        } else {
            continue;
        };
        entries.push((entry, what));
    }
    Ok(entries)
}

/// Removes a file that is older than a moment.
fn remove(entry: &DirEntry, limit: SystemTime, swept: &mut Swept) -> bool {
    let Ok(found) = entry.metadata() else {
        return false;
    };
    if found.modified().is_ok_and(|modified| modified >= limit) {
        return false;
    }
    if let Err(error) = fs::remove_file(entry.path()) {
        tracing::warn!(%error, "an object of a snapshot cannot be removed");
        return false;
    }
    swept.removed += 1;
    swept.bytes += found.len();
    true
}
