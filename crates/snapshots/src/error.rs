//! Errors of snapshots.

use std::io;

/// The reason that a snapshot could not be taken, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The folder has no Git repository, or the repository cannot be read.
    #[error("{0} is not the root of a Git worktree")]
    NotARepository(String),
    /// The project exceeds a limit of snapshots. Nothing was captured.
    #[error("the project is too large for snapshots: {0}")]
    TooLarge(&'static str),
    /// A snapshot or one of its files is not stored any more. Snapshots of sessions that were not
    /// used during the retention time are removed.
    #[error("object {0} of a snapshot is gone or damaged")]
    Missing(String),
    /// The text is not the id of a snapshot.
    #[error("{0:?} is not the id of a snapshot")]
    InvalidId(String),
    /// The path is not within the worktree: it is absolute, contains `..`, or leads into `.git`.
    #[error("{0:?} is not a path within the worktree")]
    InvalidPath(String),
    /// Paths that could not be restored, each with the reason. All other paths were restored.
    #[error("{}", restored_in_part(.0))]
    Restore(Vec<(String, io::Error)>),
    /// Another process locked the store for too long.
    #[error("the snapshots of {0} are in use by another process")]
    Busy(String),
    /// A read or write failed. `what` names the file.
    #[error("{what}: {source}")]
    Io {
        /// Path of the file.
        what: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The host closed, so nothing more is written.
    #[error("the host closed while it took a snapshot")]
    Ended,
    /// The work ended without a result, for example because it panicked.
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
    /// Returns a function for `map_err`. `what` names the file that was read or written.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
