//! Finding the git repository around a directory by its files.

use std::path::{Path, PathBuf};

use crate::bounded;
use crate::directory::lexical;

/// A worktree and its git directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The root of the worktree.
    pub root: String,
    /// The git directory shared by all worktrees.
    pub common_dir: String,
}

/// The repository whose worktree is the nearest ancestor of `start`, itself included, that has a
/// usable `.git`.
///
/// An entry `.git` that leads to no git directory is passed over, as git passes over an empty one:
/// otherwise a stray folder would hide the repository around it.
pub(super) fn discover(start: &Path) -> Option<Repository> {
    start.ancestors().find_map(|root| {
        let git_dir = git_dir(root)?;
        let common_dir = common_dir(&git_dir);
        Some(Repository {
            root: root.to_str()?.to_owned(),
            common_dir: common_dir.to_str()?.to_owned(),
        })
    })
}

/// Longest file accepted where git writes one path.
const MAX_POINTER_BYTES: u64 = 8192;

/// The git directory of a worktree: `.git` itself, or where the file `.git` of a linked worktree or
/// a submodule points.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    let metadata = std::fs::metadata(&entry).ok()?;
    let git_dir = if metadata.is_dir() {
        entry
    } else {
        let text = bounded::read_text(&entry, MAX_POINTER_BYTES)?;
        pointer(root, text.strip_prefix("gitdir:")?)?
    };
    // Every git directory has a HEAD. It may be a symbolic link, also a dangling one.
    std::fs::symlink_metadata(git_dir.join("HEAD")).ok()?;
    Some(git_dir)
}

/// The directory that holds what all worktrees share.
fn common_dir(git_dir: &Path) -> PathBuf {
    bounded::read_text(&git_dir.join("commondir"), MAX_POINTER_BYTES)
        .and_then(|text| pointer(git_dir, &text))
        .unwrap_or_else(|| git_dir.to_owned())
}

/// A path as git writes it into a file: perhaps relative to `base`, with a line end after it.
fn pointer(base: &Path, text: &str) -> Option<PathBuf> {
    let text = text.trim();
    let usable = !text.is_empty() && !text.contains(['\0', '\n']);
    usable.then(|| lexical(&base.join(text)))
}
