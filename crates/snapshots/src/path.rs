//! Paths relative to the worktree, as snapshots have them.

use crate::error::SnapshotError;

/// Refuses what callers name that is no path of a file within the worktree: nothing may lead outside or into a Git
/// directory.
pub(crate) fn judge(path: &str) -> Result<(), SnapshotError> {
    let refused = |name: &str| {
        name.is_empty() || name == "." || name == ".." || is_git(name) || name.contains('\0')
    };
    let refused_here = cfg!(windows) && path.contains(['\\', ':']);
    if refused_here || path.split('/').any(refused) {
        return Err(SnapshotError::InvalidPath(path.to_owned()));
    }
    Ok(())
}

/// Whether a name is that of a Git directory, also where case makes no difference.
pub(crate) fn is_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || cfg!(windows) && name.eq_ignore_ascii_case("git~1")
}

/// Splits a path that was judged already into its directory and its name there.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The path of a name in a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}
