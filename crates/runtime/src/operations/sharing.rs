//! Shared copies of sessions, and the files that they changed: the operations of a host.

use std::sync::Arc;

use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::session::{FileDiff, SessionInfo};

use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// Returns the differences of files that the steps of a session made, or those of one prompt or one answer. Empty
    /// if the Location has no snapshots.
    ///
    /// # Errors
    ///
    /// `MessageNotFound`; `Unavailable` if the snapshots are on another machine.
    pub async fn diff(
        &self,
        id: &SessionID,
        message: Option<MessageID>,
    ) -> Result<Vec<FileDiff>, RuntimeError> {
        self.changes.diff(id, message).await
    }

    /// Publishes a copy of a session through the service of the host, and stores its address. A session that is shared
    /// already is published again.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the host has no service, the configuration disables sharing, or the service failed.
    pub async fn share(&self, id: &SessionID) -> Result<SessionInfo, RuntimeError> {
        let (sharing, id) = (Arc::clone(&self.sharing), id.clone());
        self.uninterruptible(async move { sharing.share(&id).await })
            .await
    }

    /// Removes the shared copy of a session. Does nothing if the session is not shared.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the host has no service, or the service failed. The session is still shared then.
    pub async fn unshare(&self, id: &SessionID) -> Result<SessionInfo, RuntimeError> {
        let (sharing, id) = (Arc::clone(&self.sharing), id.clone());
        self.uninterruptible(async move { sharing.unshare(&id).await })
            .await
    }

    /// Removes the shared copy of a session that was removed, in the background. `session` is its last state. A failure
    /// is logged.
    pub fn unshare_removed(&self, session: SessionInfo) {
        let sharing = Arc::clone(&self.sharing);
        opencode_log::spawn_tracked(&self.tasks, async move {
            sharing.unshare_removed(&session).await;
        });
    }
}
