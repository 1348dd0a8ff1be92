//! Paths relative to the worktree, in the form of snapshots.

use crate::error::SnapshotError;

/// Refuses a path that is not a file path within the worktree: it must not lead outside or into a
/// Git directory.
pub(crate) fn check(path: &str) -> Result<(), SnapshotError> {
    let refused = |name: &str| {
        name.is_empty() || name == "." || name == ".." || is_git(name) || name.contains('\0')
    };
    let refused_here = cfg!(windows) && path.contains(['\\', ':']);
    if refused_here || path.split('/').any(refused) {
        return Err(SnapshotError::InvalidPath(path.to_owned()));
    }
    Ok(())
}

/// True if a name is the name of a Git directory, also on case-insensitive file systems.
pub(crate) fn is_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || cfg!(windows) && name.eq_ignore_ascii_case("git~1")
}

/// Splits a checked path into its directory and its name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Joins a directory and a name.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}
