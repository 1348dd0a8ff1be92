//! The databases whose sessions use a store.
//!
//! Hosts with the same data folder share stores, also those with different databases. Each leaves a mark, because the
//! sessions of another database may need any object.

use std::fs::{self, FileTimes};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use opencode_handles::private_file;

use crate::error::SnapshotError;

/// Prefix of the names of the marks.
pub(crate) const MARK: &str = "user-";

/// A database whose sessions use the snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Letters, digits and hyphens, different for each database.
    pub name: String,
    /// False for a database in memory. Its mark goes with its host.
    pub is_lasting: bool,
}

impl Owner {
    fn mark(&self, store: &Path) -> PathBuf {
        store.join(format!("{MARK}{}", self.name))
    }

    /// Creates the mark of this database, or renews its time.
    pub(crate) fn leave_mark(&self, store: &Path) -> Result<(), SnapshotError> {
        let mark = self.mark(store);
        let touch = || {
            let file = private_file().create(true).truncate(false).open(&mark)?;
            file.set_times(FileTimes::new().set_modified(SystemTime::now()))
        };
        touch().map_err(SnapshotError::io(mark.display().to_string()))
    }

    /// Removes the mark of a database that is gone.
    pub(crate) fn remove_mark(&self, store: &Path) {
        match fs::remove_file(self.mark(store)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::warn!(%error, "the mark of a database in a store of snapshots stays");
            }
            _ => {}
        }
    }

    /// True if another database used the store within that time.
    pub(crate) fn has_others(&self, store: &Path, within: Duration) -> io::Result<bool> {
        let own = self.mark(store);
        for entry in fs::read_dir(store)? {
            let entry = entry?;
            let is_mark = entry.file_name().to_string_lossy().starts_with(MARK);
            if !is_mark || entry.path() == own {
                continue;
            }
            let modified = entry.metadata().and_then(|it| it.modified());
            let age = modified.map(|it| it.elapsed().unwrap_or_default());
            if age.is_ok_and(|age| age < within) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if this database used the store.
    pub(crate) fn has_mark(&self, store: &Path) -> bool {
        self.mark(store).exists()
    }
}
