//! Erasure of all objects that no snapshot of a session needs, of any age.
//!
//! A capture reuses objects that it stored before, and its snapshot is recorded later. So the erasure locks out captures
//! while it removes the objects of one folder, keeps every snapshot that the host holds, and changes the number of the
//! store. A capture that finds another number checks that the objects it reuses still exist.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use git2::Oid;

use crate::error::SnapshotError;
use crate::held::NotedTrees;
use crate::lock;
use crate::objects::{self, Objects};
use crate::owner::Owner;
use crate::sweep::{StoredFile, collect_kept, entries, folders};

/// Name of the file with the number of the newest erasure.
const NUMBER: &str = "erased";

/// Pause after each folder, in which a waiting capture gets its lock.
const PAUSE: Duration = Duration::from_millis(5);

/// The parts of a store that an erasure keeps, and the condition that ends it early.
pub struct Erasure {
    /// The database whose sessions are known.
    pub owner: Owner,
    /// The snapshots that these sessions need.
    pub needed: Arc<[String]>,
    /// The snapshots that the host holds.
    pub noted: Arc<NotedTrees>,
    /// Time for which the mark of another database counts. Older objects are swept.
    pub retention: Duration,
    /// Returns true if the erasure must end early.
    pub is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// The result of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    /// The store has only objects that are needed.
    Whole,
    /// Another database uses the store, so its objects go with their age.
    Shared,
    /// It ended early.
    Stopped,
}

/// Returns the number of the newest erasure of a store. Call it under a lock.
pub(crate) fn number(store: &Path) -> Vec<u8> {
    fs::read(store.join(NUMBER)).unwrap_or_default()
}

pub(crate) fn erase(store: &Path, erasure: &Erasure) -> Result<Erased, SnapshotError> {
    let directory = store.join("objects");
    if !directory.is_dir() {
        return Ok(Erased::Whole);
    }
    let is_shared = || {
        let others = erasure.owner.has_others(store, erasure.retention);
        others.map_err(SnapshotError::io(store.display().to_string()))
    };
    if is_shared()? {
        // A store that only others use has nothing of these sessions.
        let is_used = erasure.owner.has_mark(store);
        return Ok(if is_used {
            Erased::Shared
        } else {
            Erased::Whole
        });
    }
    // Captures continue meanwhile. They only add objects, and objects of the needed snapshots stay.
    let kept_objects = Objects::new(directory.clone(), PathBuf::new(), Arc::default());
    let mut kept = HashSet::new();
    collect_kept(&kept_objects, &erasure.needed, &mut kept)?;
    let mut is_numbered = false;
    let failed = || SnapshotError::io(directory.display().to_string());
    for folder in folders(&directory).map_err(failed())? {
        let lock = lock::for_erasure(store)?;
        if (erasure.is_stopped)() {
            return Ok(Erased::Stopped);
        }
        if is_shared()? {
            return Ok(Erased::Shared);
        }
        if !is_numbered {
            renumber(store)?;
            is_numbered = true;
        }
        // A new view, because the objects of a new snapshot are new.
        let objects = Objects::new(directory.clone(), PathBuf::new(), Arc::default());
        collect_kept(&objects, &erasure.noted.ids(), &mut kept)?;
        let removed = erase_folder(&folder, &kept)?;
        drop(lock);
        if removed {
            thread::sleep(PAUSE);
        }
    }
    Ok(Erased::Whole)
}

/// Removes the files of a folder that are not kept. Returns true if it had one.
fn erase_folder(folder: &Path, kept: &HashSet<Oid>) -> Result<bool, SnapshotError> {
    let failed = || SnapshotError::io(folder.display().to_string());
    let mut removed = false;
    for (entry, kind) in entries(folder).map_err(failed())? {
        let goes = match kind {
            StoredFile::Object(id) => !kept.contains(&id),
            // No capture runs, so nothing writes the file.
            StoredFile::Temporary => true,
            // It has the names of files, and the next capture creates it again.
            StoredFile::List => true,
            StoredFile::Mark => false,
        };
        if goes {
            fs::remove_file(entry.path()).map_err(failed())?;
            removed = true;
        }
    }
    Ok(removed)
}

/// Gives the store another number.
fn renumber(store: &Path) -> Result<(), SnapshotError> {
    let path = store.join(NUMBER);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let number = now.map_or(0, |now| now.as_nanos()).to_le_bytes();
    objects::write_new(store, &path, &number).map_err(SnapshotError::io(path.display().to_string()))
}
