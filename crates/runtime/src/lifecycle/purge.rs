//! Deletion of the rows and files of removed sessions, in steps, so that other sessions can write in between.

use std::sync::Arc;

use opencode_store::{Abort, Purged, StoreError};
use opencode_tools::remove_managed_output;

use super::Lifecycle;
use crate::error::RuntimeError;
use crate::journal::Journal;

/// Maximum number of entries of one step. A step takes milliseconds.
const STEP: usize = 256;

impl Lifecycle {
    /// Deletes what is left of removed sessions, in the background.
    pub(crate) fn purge_in_background(self: &Arc<Self>) {
        let here = Arc::clone(self);
        let tasks = self.tasks.clone();
        opencode_log::spawn_tracked(&tasks, async move {
            match here.purge().await {
                Ok(()) | Err(RuntimeError::Store(StoreError::Closed)) => {}
                Err(error) => tracing::warn!(%error, "the rows of removed sessions stay for now"),
            }
        });
    }

    /// True if rows of removed sessions remain. A failed read counts as none: a later removal looks again.
    pub(crate) async fn has_removed_rows(journal: &Journal) -> bool {
        let read = journal.store.read(|db| db.has_removed_rows()).await;
        read.unwrap_or_else(|error| {
            tracing::warn!(%error, "the rows of removed sessions stay for now");
            false
        })
    }

    /// Deletes all rows of removed sessions, and then their Managed Tool Output Files. Ends early if the host closes:
    /// the next host continues.
    pub(crate) async fn purge(&self) -> Result<(), RuntimeError> {
        // A caller that waits here returns after the files of the other one are deleted, too.
        let _purging = self.purging.lock().await;
        let store = &self.journal.store;
        let mut remains = store.read(|db| db.has_removed_rows()).await?;
        while remains && !self.closing.is_cancelled() {
            let step =
                store.write(|transaction| Ok::<_, Abort<RuntimeError>>(transaction.purge(STEP)?));
            let step = step.await?;
            remains = step.remains;
            self.delete_files(step).await;
        }
        Ok(())
    }

    /// Deletes the files after the rows that name them. The regular sweep deletes what a crash leaves.
    async fn delete_files(&self, Purged { files, .. }: Purged) {
        if files.is_empty() {
            return;
        }
        let directory = Arc::clone(&self.outputs);
        let removed =
            opencode_log::spawn_blocking(move || remove_managed_output(&directory, &files));
        match removed.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "Managed Tool Output Files of a removed session stay");
            }
            Err(error) => tracing::error!(%error, "the deletion of files did not end"),
        }
    }
}
