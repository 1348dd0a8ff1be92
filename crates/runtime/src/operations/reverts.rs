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
    /// Stages a revert: files become what they were at the boundary, messages stay. Staging again
    /// moves the boundary. What others changed since is left alone and listed.
    ///
    /// # Errors
    ///
    /// `SessionBusy` while a Session Drain or something else works on the session, `MessageNotFound`
    /// and `PartNotFound` for a boundary that there is not, `Snapshot` when the files cannot be had;
    /// then nothing is staged.
    pub async fn stage_revert(&self, request: StageRevert) -> Result<RevertState, RuntimeError> {
        let (reverts, id) = (Arc::clone(&self.reverts), request.session_id.clone());
        let work = async move { reverts.stage_revert(request).await };
        self.exclusively(&id, work.boxed()).await
    }

    /// Drops a staged revert: files become again what they were before it. Nothing without one.
    ///
    /// # Errors
    ///
    /// `SessionBusy` as above, `Snapshot` when the files cannot be brought back; then the revert is
    /// staged still.
    pub async fn clear_revert(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let (reverts, session) = (Arc::clone(&self.reverts), id.clone());
        let work = async move { reverts.clear_revert(&session).await };
        self.exclusively(id, work.boxed()).await
    }

    /// Carries a staged revert out: what comes after its boundary is gone. Nothing without one.
    ///
    /// # Errors
    ///
    /// `SessionBusy` as above.
    pub async fn commit_revert(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let (reverts, session) = (Arc::clone(&self.reverts), id.clone());
        let work = async move { reverts.commit_staged_revert(&session).await };
        self.exclusively(id, work.boxed()).await
    }

    /// Does something to an idle session while nothing else happens to it.
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
