//! What may go wrong with snapshots.

use std::io;

/// Why a snapshot could not be taken, read or put back.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The folder has no Git repository, or one that cannot be read.
    #[error("{0} is not the root of a Git worktree")]
    NotARepository(String),
    /// More than a snapshot may hold. Nothing was captured.
    #[error("the project is too large for snapshots: {0}")]
    TooLarge(&'static str),
    /// A snapshot, or a file of one, that is not stored any more. Those of sessions that nobody
    /// used for the time of retention go.
    #[error("object {0} of a snapshot is gone or damaged")]
    Missing(String),
    /// What should name a snapshot does not.
    #[error("{0:?} is not the id of a snapshot")]
    InvalidId(String),
    /// A path that is none within the worktree: absolute, with `..`, or into `.git`.
    #[error("{0:?} is not a path within the worktree")]
    InvalidPath(String),
    /// Paths that could not be put back, each with the reason. All others were.
    #[error("{}", restored_in_part(.0))]
    Restore(Vec<(String, io::Error)>),
    /// Another process works on the store for too long.
    #[error("the snapshots of {0} are in use by another process")]
    Busy(String),
    /// The system refuses to read or write; `what` says which file.
    #[error("{what}: {source}")]
    Io {
        /// What was read or written.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The host closed, so nothing more is written.
    #[error("the host closed while it took a snapshot")]
    Ended,
    /// The work ended without a result, as it does when it panics.
    #[error("a snapshot was given up: {0}")]
    GivenUp(String),
}

fn restored_in_part(failed: &[(String, io::Error)]) -> String {
    let first = failed
        .first()
        .map(|(path, error)| format!("{path}: {error}"));
    format!(
        "{} of the files could not be put back, the first is {}",
        failed.len(),
        first.unwrap_or_default()
    )
}

impl SnapshotError {
    /// For `map_err`, where `what` says what was read or written.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
