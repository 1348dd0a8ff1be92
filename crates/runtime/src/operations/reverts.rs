//! Reverts: the operations of a host.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_schema::id::SessionID;
use opencode_schema::session::RevertState;
use tracing::Instrument as _;

use crate::error::RuntimeError;
use crate::revert::StageRevert;
use crate::runtime::Runtime;

impl Runtime {
    /// Stages a revert: files get their state at the boundary, messages stay. Staging again
    /// moves the boundary. Paths that another program changed since then stay unchanged and are listed.
    ///
    /// # Errors
    ///
    /// `SessionBusy` while a Session Drain runs or another operation holds the session. `MessageNotFound` and
    /// `PartNotFound` if the boundary does not exist. `Snapshot` if the files cannot be read or restored; then nothing
    /// is staged.
    pub async fn stage_revert(&self, request: StageRevert) -> Result<RevertState, RuntimeError> {
        let (reverts, id) = (Arc::clone(&self.reverts), request.session_id.clone());
        let work = async move { reverts.stage_revert(request).await };
        self.exclusively(&id, work.boxed()).await
    }

    /// Drops a staged revert: files get their state from before it. Does nothing without one.
    ///
    /// # Errors
    ///
    /// `SessionBusy` as above, `Snapshot` if the files cannot be restored; then the revert stays
    /// staged.
    pub async fn clear_revert(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let (reverts, session) = (Arc::clone(&self.reverts), id.clone());
        let work = async move { reverts.clear_revert(&session).await };
        self.exclusively(id, work.boxed()).await
    }

    /// Carries out a staged revert: removes everything after its boundary. Does nothing without one.
    ///
    /// # Errors
    ///
    /// `SessionBusy` as above.
    pub async fn commit_revert(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let (reverts, session) = (Arc::clone(&self.reverts), id.clone());
        let work = async move { reverts.commit_staged_revert(&session).await };
        self.exclusively(id, work.boxed()).await
    }

    /// Runs an operation on an idle session, and keeps drains from starting during it.
    async fn exclusively<T: Send + 'static>(
        &self,
        id: &SessionID,
        work: BoxFuture<'static, Result<T, RuntimeError>>,
    ) -> Result<T, RuntimeError> {
        let Some(held) = self.coordinator.hold(id) else {
            return Err(RuntimeError::SessionBusy(id.clone()));
        };
        let location = tracing::field::Empty;
        let span = tracing::error_span!("revert", session_id = %id, location);
        let work = async move {
            let done = work.await;
            drop(held);
            done
        };
        self.uninterruptible(work.instrument(span)).await
    }
}
