//! Erasure of the snapshots of removed sessions.
//!
//! Sessions share objects, so everything goes that no session needs: the snapshots of steps without changes, and those
//! of removed sessions and of reverted steps.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use opencode_snapshots::{Erased, Erasure, Snapshots};
use tokio_util::sync::CancellationToken;

use super::SnapshotStores;
use crate::error::RuntimeError;

/// Minimum time that the captures of a step are kept, unless they are erased.
pub(crate) const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Number of sessions whose snapshots one read returns. Other reads run in between.
const TOGETHER: usize = 16;

impl SnapshotStores {
    /// Removes all objects that no session needs. Returns false if some stay: another database uses them, they cannot
    /// be removed, or the host closes.
    pub(crate) async fn erase(&self, closing: &CancellationToken) -> Result<bool, RuntimeError> {
        let stores = self.stores().await?;
        if stores.is_empty() {
            return Ok(true);
        }
        // Before the read, so that no snapshot is missed that a session names meanwhile.
        let noted = Arc::new(self.held.note());
        let needed = self.needed().await?;
        let closing = closing.clone();
        let erasure = Arc::new(Erasure {
            owner: self.owner.clone(),
            needed: needed.into(),
            noted,
            retention: RETENTION,
            is_stopped: Arc::new(move || closing.is_cancelled()),
        });
        let mut is_whole = true;
        for store in stores {
            let folder = store.display();
            match Snapshots::erase(&store, Arc::clone(&erasure)).await {
                Ok(Erased::Whole) => continue,
                Ok(Erased::Shared) => {
                    tracing::warn!(%folder, "another database uses these snapshots, so those of removed sessions stay up to a week");
                }
                Ok(Erased::Stopped) => return Ok(false),
                Err(error) => {
                    tracing::warn!(%folder, %error, "the snapshots of removed sessions stay for now");
                }
            }
            is_whole = false;
        }
        Ok(is_whole)
    }

    /// Returns the snapshots that sessions need, each once.
    async fn needed(&self) -> Result<Vec<String>, RuntimeError> {
        let mut needed = Vec::new();
        let mut after = None;
        loop {
            let read = move |db: &opencode_store::Reader<'_>| db.needed_snapshots(after, TOGETHER);
            let (found, last) = self.journal.store.read(read).await?;
            needed.extend(found.into_iter().filter(|it| is_id(it)));
            if last.is_none() {
                break;
            }
            after = last;
        }
        needed.sort_unstable();
        needed.dedup();
        Ok(needed)
    }

    /// Returns the folders of all stores: one per worktree, below one per project.
    pub(crate) async fn stores(&self) -> Result<Vec<PathBuf>, RuntimeError> {
        let root = self.root.clone();
        let stores = opencode_log::spawn_blocking(move || {
            let projects = entries(&root).into_iter();
            projects.flat_map(|project| entries(&project)).collect()
        });
        stores.await.map_err(|error| {
            tracing::error!(%error, "the stores of snapshots were not listed");
            RuntimeError::Panicked
        })
    }
}

/// Returns the entries of a folder. Empty if it does not exist or cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|it| Some(it.ok()?.path())).collect(),
        Err(error) => {
            if error.kind() != ErrorKind::NotFound {
                let folder = folder.display();
                tracing::warn!(%folder, %error, "the snapshots are not swept");
            }
            Vec::new()
        }
    }
}

/// True if this is the id of a snapshot. The log of an imported session may contain another text.
pub(crate) fn is_id(snapshot: &str) -> bool {
    snapshot.len() == 40 && snapshot.bytes().all(|it| it.is_ascii_hexdigit())
}
