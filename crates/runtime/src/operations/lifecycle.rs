//! The end of sessions: the operations of a host.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_schema::session::SessionInfo;

use crate::error::RuntimeError;
use crate::lifecycle::ForkSession;
use crate::runtime::Runtime;

impl Runtime {
    /// Removes a session and its descendants, with everything that is stored about them. With `interrupt`, stops their
    /// work first. Completes even if the caller drops the future.
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
