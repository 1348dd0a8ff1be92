//! Going back to an earlier message of a session.

use opencode_schema::session::RevertState;

use crate::input::{RevertStagePayload, SessionParams};
use crate::operation::operations;

operations! {
    /// Stages a revert to a message: files go back to what they were then.
    ///
    /// Messages stay until the revert is committed, which the next Provider Turn does by itself. Staging
    /// again moves the boundary. A session with a Session Drain under way cannot be reverted.
    SessionRevertStage = "v2.session.revert.stage" => "sessions.revert.stage" {
        Post "/api/session/{sessionID}/revert/stage",
        params: SessionParams,
        payload: RevertStagePayload,
        success: value(RevertState),
        errors: [SessionNotFound, MessageNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }

    /// Drops a staged revert: files become again what they were before it. Without one nothing is done.
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
