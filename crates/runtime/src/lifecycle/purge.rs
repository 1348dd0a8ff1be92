//! Deletion of the rows and files of removed sessions, in steps, so that other sessions can write in between.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_store::{Abort, StoreError};
use opencode_tools::{remove_managed_output, remove_managed_output_of};

use super::Lifecycle;
use crate::error::RuntimeError;
use crate::journal::Journal;

/// Maximum number of entries of one step. A step takes milliseconds.
const STEP: usize = 256;

/// Maximum number of files, or of session trees, whose files are deleted together.
const TOGETHER: usize = 256;

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

    /// True if rows or files of removed sessions remain. A failed read counts as none: a later removal looks again.
    pub(crate) async fn has_removed_rows(journal: &Journal) -> bool {
        let read = journal
            .store
            .read(|db| Ok(db.has_removed_rows()? || db.remains()?.files));
        read.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the rows of removed sessions stay for now");
            false
        })
    }

    /// Deletes all rows of removed sessions, and their Managed Tool Output Files. Ends early if the host closes: the
    /// next host continues.
    pub(crate) async fn purge(&self) -> Result<(), RuntimeError> {
        // A caller that waits here returns after the files of the other one are deleted, too.
        let _purging = self.purging.lock().await;
        let store = &self.journal.store;
        let mut remains = store.read(|db| db.has_removed_rows()).await?;
        while remains && !self.closing.is_cancelled() {
            let step =
                store.write(|transaction| Ok::<_, Abort<RuntimeError>>(transaction.purge(STEP)?));
            remains = step.await?;
        }
        while !self.closing.is_cancelled() && self.delete_files().await? {}
        while !self.closing.is_cancelled() && self.delete_trees().await? {}
        Ok(())
    }

    /// Deletes files that the deleted rows named. Returns true if more may follow. Files that cannot be deleted stay
    /// recorded.
    async fn delete_files(&self) -> Result<bool, RuntimeError> {
        let store = &self.journal.store;
        let files = store.read(|db| db.removed_files(TOGETHER)).await?;
        if files.is_empty() {
            return Ok(false);
        }
        let directory = Arc::clone(&self.outputs);
        let deleting = opencode_log::spawn_blocking(move || {
            let stay = remove_managed_output(&directory, &files)?;
            let gone = files.into_iter().filter(|it| !stay.contains(it)).collect();
            Ok::<(Vec<String>, Vec<String>), std::io::Error>((gone, stay))
        });
        let (gone, stay) = match deleting.await {
            Ok(Ok(deleted)) => deleted,
            Ok(Err(error)) => {
                tracing::warn!(%error, "Managed Tool Output Files of a removed session stay");
                return Ok(false);
            }
            Err(error) => {
                tracing::error!(%error, "the deletion of files did not end");
                return Ok(false);
            }
        };
        for path in &stay {
            tracing::warn!(
                path,
                "a Managed Tool Output File of a removed session stays"
            );
        }
        let goes_on = !gone.is_empty();
        let recorded =
            store.write(move |it| Ok::<_, Abort<RuntimeError>>(it.files_deleted(&gone)?));
        recorded.await?;
        Ok(goes_on)
    }

    /// Deletes the files of session trees that were removed as a whole, also those that no row names. Returns true if
    /// more may follow.
    async fn delete_trees(&self) -> Result<bool, RuntimeError> {
        let store = &self.journal.store;
        let trees = store.read(|db| {
            let roots = db.removed_trees(TOGETHER)?;
            // The files of a session with the same id stay.
            let is_used = |root: &SessionID| Ok::<_, StoreError>(db.session(root)?.is_some());
            let free = roots
                .iter()
                .filter_map(|root| match is_used(root) {
                    Ok(false) => Some(Ok(root.clone())),
                    Ok(true) | Err(StoreError::Corrupt { .. }) => None,
                    Err(error) => Some(Err(error)),
                })
                .collect::<Result<Vec<_>, _>>()?;
            Ok((roots, free))
        });
        let (roots, free) = trees.await?;
        if roots.is_empty() {
            return Ok(false);
        }
        let directory = Arc::clone(&self.outputs);
        let deleting =
            opencode_log::spawn_blocking(move || remove_managed_output_of(&directory, &free));
        match deleting.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "Managed Tool Output Files of removed sessions stay");
                return Ok(false);
            }
            Err(error) => {
                tracing::error!(%error, "the deletion of files did not end");
                return Ok(false);
            }
        }
        let recorded = store.write(move |transaction| {
            for root in &roots {
                transaction.tree_deleted(root)?;
            }
            Ok::<_, Abort<RuntimeError>>(())
        });
        recorded.await?;
        Ok(true)
    }
}
