//! The shared copy of a session, and the files that its steps changed.

use opencode_schema::session::{FileDiff, SessionInfo};

use crate::input::{DiffQuery, SessionParams};
use crate::operation::operations;

operations! {
    /// Returns the differences of files from the first to the newest step of the session that changed files.
    ///
    /// Changes between two steps are part of it, changes of files that no step changed are not. The result is empty
    /// without snapshots, for example outside of a Git repository.
    SessionDiff = "v2.session.diff" => "sessions.diff" {
        Get "/api/session/{sessionID}/diff",
        params: SessionParams,
        query: DiffQuery,
        success: value(Vec<FileDiff>),
        errors: [SessionNotFound, MessageNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Publishes a copy of the session through the service of the host, and returns the session with its address.
    ///
    /// The host publishes the copy again after each activity. A session that is shared already is published at once.
    SessionShare = "v2.session.share" => "sessions.share" {
        Post "/api/session/{sessionID}/share",
        params: SessionParams,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Removes the shared copy of the session. It has no effect on a session that is not shared.
    SessionUnshare = "v2.session.unshare" => "sessions.unshare" {
        Delete "/api/session/{sessionID}/share",
        params: SessionParams,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }
}
