//! Paths that callers name.

use crate::SnapshotError;

/// Refuses what is no path of a file within the worktree: nothing may lead outside or into a Git
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

/// Whether a name is one that files have here before they are moved to their place.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(".opencode-") && name.ends_with(".tmp")
}
