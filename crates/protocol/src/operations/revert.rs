//! Going back to an earlier message of a session.

use opencode_schema::session::RevertState;

use crate::input::{RevertStagePayload, SessionParams};
use crate::operation::operations;

operations! {
    /// Stages a revert to a message: files go back to what they were then.
    ///
    /// Messages stay until the revert is committed, which the next Session Drain does by itself. Staging
    /// again moves the boundary. Files go back only in a Git repository whose configuration does not
    /// switch snapshots off, and not where somebody else changed them since. A session that runs cannot
    /// be reverted.
    SessionRevertStage = "v2.session.revert.stage" => "sessions.revert.stage" {
        Post "/api/session/{sessionID}/revert/stage",
        params: SessionParams,
        payload: RevertStagePayload,
        success: value(RevertState),
        errors: [SessionNotFound, MessageNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }

    /// Drops a staged revert: files become again what they were before it, unless somebody changed them
    /// since. Without one nothing is done.
    SessionRevertClear = "v2.session.revert.clear" => "sessions.revert.clear" {
        Post "/api/session/{sessionID}/revert/clear",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }

    /// Carries a staged revert out: what comes after the boundary is gone. Without one nothing is done.
    SessionRevertCommit = "v2.session.revert.commit" => "sessions.revert.commit" {
        Post "/api/session/{sessionID}/revert/commit",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }
}
