//! Removing what nobody needs any more.
//!
//! An object stays while somebody may build on it. Those of the snapshots that the caller names and of
//! the last capture here are known. For all others, of other hosts with the same store too, the time
//! of the file decides: whoever captures looks after its objects once a day, before it uses them.

use std::{
    collections::HashSet,
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use git2::Oid;

use crate::{
    SnapshotError, Swept, compare,
    engine::Engine,
    lock,
    objects::{Objects, TEMPORARY},
};

/// How many files one sweep removes at most; the next goes on.
const MAX_REMOVED: u64 = 50_000;

/// A temporary file that is older than this belongs to nobody.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

impl Engine {
    pub(crate) fn sweep(
        &mut self,
        older_than: Duration,
        keep: &[String],
    ) -> Result<Swept, SnapshotError> {
        let mut swept = Swept::default();
        let directory = self.options.store.join("objects");
        if !directory.is_dir() {
            return Ok(swept);
        }
        let kept = self.kept(keep)?;
        let now = SystemTime::now();
        let Some(limit) = now.checked_sub(older_than) else {
            return Ok(swept);
        };
        let abandoned = now.checked_sub(ABANDONED).unwrap_or(limit);
        let failed = || SnapshotError::io(directory.display().to_string());
        for folder in folders(&directory).map_err(failed())? {
            // For a moment only, so that captures do not wait for all of it.
            let _lock = lock::exclusive(&self.options.store)?;
            for (entry, id) in entries(&folder).map_err(failed())? {
                let limit = if id.is_some() { limit } else { abandoned };
                let is_kept = id.is_some_and(|id| kept.contains(&id));
                if is_kept || swept.removed == MAX_REMOVED || !remove(&entry, limit, &mut swept) {
                    swept.kept += 1;
                }
            }
        }
        Ok(swept)
    }

    /// What is known to be needed.
    fn kept(&self, keep: &[String]) -> Result<HashSet<Oid>, SnapshotError> {
        // Trees are all ours, so that a worktree that is gone has its snapshots swept, too.
        let objects = Objects::new(self.options.store.join("objects"), PathBuf::new());
        let mut kept: HashSet<Oid> = HashSet::new();
        for tree in keep {
            match compare::collect(&objects, crate::tree::id(tree)?, &mut kept) {
                // One that is gone already keeps nothing.
                Ok(()) | Err(SnapshotError::Missing(_)) => {}
                Err(error) => return Err(error),
            }
        }
        kept.extend(self.known.iter().flat_map(|known| known.ids()));
        Ok(kept)
    }
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

/// The objects in a folder with their ids, and temporary files. Nothing else is looked at.
fn entries(folder: &Path) -> io::Result<Vec<(DirEntry, Option<Oid>)>> {
    let prefix = folder
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        if name.starts_with(TEMPORARY) {
            entries.push((entry, None));
        } else if name.len() == 38
            && prefix.len() == 2
            && let Ok(id) = Oid::from_str(&format!("{prefix}{name}"))
        {
            entries.push((entry, Some(id)));
        }
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
