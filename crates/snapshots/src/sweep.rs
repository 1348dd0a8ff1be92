//! Removal of objects that are not needed any more.
//!
//! An object stays while a capture may reuse it. The objects of the caller's snapshots are known.
//! For all other objects, including those of other hosts with the same store, the file time
//! decides: captures renew the objects in use once a day, before they reuse them.

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
use crate::entry::SweepResult;
use crate::error::SnapshotError;
use crate::objects::{Objects, TEMPORARY};
use crate::owner::MARK;
use crate::{compare, lock, tree};

/// Maximum number of files that one sweep removes. The next sweep continues.
const MAX_REMOVED: u64 = 50_000;

/// Age from which a temporary file is abandoned.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// Removes files that are older than `older_than` and do not belong to the snapshots in `keep`.
pub(crate) fn sweep(
    store: &Path,
    older_than: Duration,
    keep: &[String],
) -> Result<SweepResult, SnapshotError> {
    let mut swept = SweepResult::default();
    let directory = store.join("objects");
    if !directory.is_dir() {
        return Ok(swept);
    }
    // All trees are in the store itself, so this works without the worktree.
    let objects = Objects::new(directory.clone(), PathBuf::new(), Arc::default());
    let mut kept = HashSet::new();
    collect_kept(&objects, keep, &mut kept)?;
    let now = SystemTime::now();
    let Some(limit) = now.checked_sub(older_than) else {
        return Ok(swept);
    };
    let abandoned = now.checked_sub(ABANDONED).unwrap_or(limit);
    let failed = || SnapshotError::io(directory.display().to_string());
    for folder in folders(&directory).map_err(failed())? {
        // Locked only for one folder, so that captures do not wait for the whole sweep.
        let _lock = lock::exclusive(store)?;
        for (entry, kind) in entries(&folder).map_err(failed())? {
            let (limit, is_kept) = match kind {
                StoredFile::Object(id) => (limit, kept.contains(&id)),
                StoredFile::List | StoredFile::Mark => (limit, false),
                StoredFile::Temporary => (abandoned, false),
            };
            let goes = !is_kept && swept.removed < MAX_REMOVED;
            let is_gone = goes && remove(&entry, limit, &mut swept);
            if matches!(kind, StoredFile::Object(_)) && !is_gone {
                swept.kept += 1;
            }
        }
    }
    Ok(swept)
}

/// Adds the ids of all objects of the snapshots in `keep`. A missing snapshot keeps no objects.
pub(crate) fn collect_kept(
    objects: &Objects,
    keep: &[String],
    kept: &mut HashSet<Oid>,
) -> Result<(), SnapshotError> {
    for id in keep {
        let id = tree::id(id)?;
        if objects.has_own(id) {
            compare::collect(objects, id, kept)?;
        }
    }
    Ok(())
}

/// Returns the folders of objects, and the store itself with its temporary files.
pub(crate) fn folders(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders: Vec<_> = directory.parent().map(Into::into).into_iter().collect();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// The kind of a file in the store.
pub(crate) enum StoredFile {
    Object(Oid),
    /// A list of files. The next capture creates it again.
    List,
    Temporary,
    /// The mark of a database that uses the store.
    Mark,
}

/// Returns the files of the store in a folder. Ignores all other files.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(DirEntry, StoredFile)>> {
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
        let kind = if name.starts_with(TEMPORARY) {
            StoredFile::Temporary
        } else if name.starts_with(LIST) {
            StoredFile::List
        } else if name.starts_with(MARK) {
            StoredFile::Mark
        } else if let Some(id) = prefix.filter(|_| name.len() == 38).and_then(object) {
            StoredFile::Object(id)
        } else {
            continue;
        };
        entries.push((entry, kind));
    }
    Ok(entries)
}

/// Removes a file that is older than `limit`. Returns true if it was removed.
fn remove(entry: &DirEntry, limit: SystemTime, swept: &mut SweepResult) -> bool {
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
