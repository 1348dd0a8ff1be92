//! Finds the git repository of a directory by its files.

use std::path::{Path, PathBuf};

use opencode_handles::read_text;

use crate::directory::lexical;

/// A worktree and its git directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The root of the worktree.
    pub root: String,
    /// The git directory of the worktree itself, with its HEAD.
    pub git_dir: PathBuf,
    /// The git directory that all worktrees share.
    pub common_dir: String,
}

/// Returns the repository of the nearest ancestor of `start`, including `start`, that has a usable `.git`.
///
/// Skips an entry `.git` that does not lead to a git directory, as git skips an empty one. Otherwise a
/// stray folder would hide the repository that contains it.
pub(super) fn discover(start: &Path) -> Option<Repository> {
    start.ancestors().find_map(|root| {
        let git_dir = git_dir(root)?;
        let common_dir = common_dir(&git_dir);
        Some(Repository {
            root: root.to_str()?.to_owned(),
            common_dir: common_dir.to_str()?.to_owned(),
            git_dir,
        })
    })
}

/// Maximum size in bytes of a git file that contains one path.
const MAX_POINTER_BYTES: u64 = 8192;

/// The git directory of a worktree: `.git` itself, or the target of the file `.git` in a linked
/// worktree or a submodule.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    let metadata = std::fs::metadata(&entry).ok()?;
    let git_dir = if metadata.is_dir() {
        entry
    } else {
        let text = read_text(&entry, MAX_POINTER_BYTES)?;
        pointer(root, text.strip_prefix("gitdir:")?)?
    };
    // Every git directory has a HEAD. It can be a symbolic link, including a dangling one.
    std::fs::symlink_metadata(git_dir.join("HEAD")).ok()?;
    Some(git_dir)
}

/// The directory with the data that all worktrees share.
fn common_dir(git_dir: &Path) -> PathBuf {
    read_text(&git_dir.join("commondir"), MAX_POINTER_BYTES)
        .and_then(|text| pointer(git_dir, &text))
        .unwrap_or_else(|| git_dir.to_owned())
}

/// Parses a path in a git file. It can be relative to `base` and ends with a line end.
fn pointer(base: &Path, text: &str) -> Option<PathBuf> {
    let text = text.trim();
    let usable = !text.is_empty() && !text.contains(['\0', '\n']);
    usable.then(|| lexical(&base.join(text)))
}
