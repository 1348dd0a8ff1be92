//! The end of sessions: the operations of a host.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_schema::session::SessionInfo;
use opencode_schema::storage::{PrunedSessions, StorageCompaction, StorageUse};

use crate::error::RuntimeError;
use crate::lifecycle::{ForkSession, PruneSessions};
use crate::runtime::Runtime;

impl Runtime {
    /// Removes a session and its descendants: no read finds them any more when this returns. Everything that is stored
    /// about them is deleted in the background. With `interrupt`, stops their work first. Completes even if the caller
    /// drops the future.
    ///
    /// # Errors
    ///
    /// `SessionBusy` with the session that runs. Nothing is removed then.
    pub async fn remove_session(
        &self,
        id: &SessionID,
        interrupt: bool,
    ) -> Result<(), RuntimeError> {
        let (lifecycle, id) = (Arc::clone(&self.lifecycle), id.clone());
        self.uninterruptible(async move {
            lifecycle.remove(&id, interrupt).await?;
            Ok(())
        })
        .await
    }

    /// Removes the sessions that are old, at most 1,000 without a parent, each with its descendants. Leaves sessions that
    /// work.
    ///
    /// # Errors
    ///
    /// `InvalidField` if the conditions select every session.
    pub async fn prune_sessions(
        &self,
        request: PruneSessions,
    ) -> Result<PrunedSessions, RuntimeError> {
        let lifecycle = Arc::clone(&self.lifecycle);
        self.uninterruptible(async move { lifecycle.prune(request).await })
            .await
    }

    /// Returns the use of the database, with the largest sessions, at most `limit`.
    pub async fn storage_stats(&self, limit: usize) -> Result<StorageUse, RuntimeError> {
        self.lifecycle.storage_stats(limit).await
    }

    /// Gives the free parts of the database file back to the file system, in small steps.
    pub async fn compact_storage(&self) -> Result<StorageCompaction, RuntimeError> {
        let lifecycle = Arc::clone(&self.lifecycle);
        self.uninterruptible(async move { lifecycle.compact_storage().await })
            .await
    }

    /// Copies a session, up to a boundary, into a new session. No file changes.
    ///
    /// # Errors
    ///
    /// `SessionBusy` while the session works. `MessageNotFound` and `PartNotFound` if the boundary does not exist.
    pub async fn fork_session(&self, request: ForkSession) -> Result<SessionInfo, RuntimeError> {
        let lifecycle = Arc::clone(&self.lifecycle);
        self.uninterruptible(async move { lifecycle.fork(request).await })
            .await
    }
}
