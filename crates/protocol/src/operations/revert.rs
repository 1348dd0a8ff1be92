//! Reverts of a session to an earlier message.

use opencode_schema::session::RevertState;

use crate::input::{RevertStagePayload, SessionParams};
use crate::operation::operations;

operations! {
    /// Stages a revert to a message. The files return to their state at that message.
    ///
    /// Messages stay until the revert is committed; the next Session Drain commits it. Staging again moves the
    /// boundary. Files are reverted only in a Git repository whose configuration does not switch snapshots off, and
    /// only if no other program changed them since. A running session cannot be reverted.
    SessionRevertStage = "v2.session.revert.stage" => "sessions.revert.stage" {
        Post "/api/session/{sessionID}/revert/stage",
        params: SessionParams,
        payload: RevertStagePayload,
        success: value(RevertState),
        errors: [SessionNotFound, MessageNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }

    /// Drops a staged revert. The files return to their state before it, unless another program changed them since.
    /// Does nothing without a staged revert.
    SessionRevertClear = "v2.session.revert.clear" => "sessions.revert.clear" {
        Post "/api/session/{sessionID}/revert/clear",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }

    /// Commits a staged revert: removes everything after the boundary. It has no effect without a staged revert.
    SessionRevertCommit = "v2.session.revert.commit" => "sessions.revert.commit" {
        Post "/api/session/{sessionID}/revert/commit",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound, SessionBusy],
        middleware: [Authorization, Session],
    }
}
