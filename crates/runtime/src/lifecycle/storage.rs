//! The use of the database, and giving free parts of its file back.

use opencode_schema::storage::{SessionStorage, StorageCompaction, StorageUse};
use opencode_store::{Abort, StoreError};

use super::Lifecycle;
use crate::error::RuntimeError;

/// Number of pages that one step gives back. A step takes milliseconds, and other sessions write between two steps.
const STEP: u32 = 256;

/// Name of the operation in failures.
const SERVICE: &str = "storage.compact";

impl Lifecycle {
    /// Returns the use of the database, with the largest sessions, at most `limit`.
    pub(crate) async fn storage_stats(&self, limit: usize) -> Result<StorageUse, RuntimeError> {
        let store = &self.journal.store;
        let read = store.read(move |db| Ok((db.storage_size()?, db.session_sizes(limit)?)));
        let (size, (sessions, largest)) = read.await?;
        let largest = largest.into_iter().map(|it| SessionStorage {
            session_id: it.id,
            bytes: it.bytes,
        });
        Ok(StorageUse {
            total: size.total,
            free: size.free,
            log: store.log_bytes().await,
            sessions,
            largest: largest.collect(),
        })
    }

    /// Erases what removed sessions left, and gives the free parts of the file back to the file system. Ends early if
    /// the host closes.
    pub(crate) async fn compact_storage(&self) -> Result<StorageCompaction, RuntimeError> {
        self.purge().await?;
        let store = &self.journal.store;
        let before = store.read(|db| db.storage_size()).await?;
        let remains = store.read(|db| db.remains()).await?;
        if let Some(removal) = remains.snapshots
            && self.snapshots.erase(&self.closing).await?
        {
            let erased =
                store.write(move |it| Ok::<_, Abort<RuntimeError>>(it.snapshots_erased(removal)?));
            erased.await?;
        }
        if remains.parts {
            let closing = self.closing.clone();
            let erased = store.erase(move || closing.is_cancelled()).await;
            erased.map_err(|error| match error {
                StoreError::NoSpace(_) => RuntimeError::Unavailable {
                    service: SERVICE,
                    message: error.to_string(),
                },
                other => other.into(),
            })?;
        }
        let after = self.give_back().await?;
        let remains = store.read(|db| Ok(db.has_removed_rows()? || db.remains()?.any()));
        Ok(StorageCompaction {
            before: before.total,
            after,
            shrinks: before.shrinks,
            erased: !remains.await?,
        })
    }

    /// Gives the free parts of the file back to the file system, in steps. Returns its size.
    async fn give_back(&self) -> Result<u64, RuntimeError> {
        let store = &self.journal.store;
        let mut size = store.read(|db| db.storage_size()).await?;
        while size.shrinks && size.free > 0 && !self.closing.is_cancelled() {
            let step = store.write(|transaction| {
                transaction.vacuum(STEP)?;
                Ok::<_, Abort<RuntimeError>>(transaction.reader().storage_size()?)
            });
            let after = step.await?;
            // Other sessions may free pages meanwhile.
            if after.total >= size.total {
                break;
            }
            size = after;
        }
        Ok(size.total)
    }
}
