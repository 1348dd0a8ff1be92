//! The user's repository, which is only read and never written.

use std::{
    collections::HashSet,
    io::{self, Read},
    path::{Path, PathBuf},
};

use git2::Index;
use opencode_handles::open_file;

use crate::error::SnapshotError;

/// Maximum size of a file that points to the Git directory, in bytes.
const MAX_POINTER_BYTES: u64 = 8192;

/// Maximum size of `info/exclude` to read, in bytes.
const MAX_EXCLUDE_BYTES: u64 = 1024 * 1024;

/// Maximum size of an index, in bytes. It holds several million paths.
const MAX_INDEX_BYTES: u64 = 1024 * 1024 * 1024;

/// The directories of a worktree's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Directory of the worktree itself, with its index.
    own: PathBuf,
    /// Directory that all worktrees share, with objects and rules.
    common: PathBuf,
}

impl Repository {
    /// Returns the repository of the worktree with this root.
    pub(crate) fn of(worktree: &Path) -> Result<Self, SnapshotError> {
        let unreadable = || SnapshotError::NotARepository(worktree.display().to_string());
        let dot_git = worktree.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else {
            let pointer = pointer(&dot_git).map_err(|_| unreadable())?;
            let target = pointer.strip_prefix("gitdir:").ok_or_else(unreadable)?;
            worktree.join(target.trim())
        };
        let common = match pointer(&own.join("commondir")) {
            Ok(common) => own.join(common.trim()),
            Err(_) => own.clone(),
        };
        if !common.join("objects").is_dir() {
            return Err(unreadable());
        }
        Ok(Self { own, common })
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    /// Returns the text of `info/exclude`, or an empty text if the file does not exist.
    pub(crate) fn exclude(&self) -> Vec<u8> {
        let read = || {
            let mut text = Vec::new();
            let file = open_file(&self.common.join("info/exclude"))?;
            file.take(MAX_EXCLUDE_BYTES).read_to_end(&mut text)?;
            io::Result::Ok(text)
        };
        read().unwrap_or_default()
    }

    /// Returns the paths that Git tracks, or an empty set if the index cannot be read.
    pub(crate) fn tracked(&self) -> HashSet<Vec<u8>> {
        let path = self.own.join("index");
        let refused = |error: io::Error| git2::Error::from_str(&error.to_string());
        let checked = check_index(&path).map_err(refused);
        match checked.and_then(|()| Index::open(&path)) {
            Ok(index) => index.iter().map(|entry| entry.path).collect(),
            Err(error) => {
                tracing::warn!(%error, "the index of the repository cannot be read");
                HashSet::new()
            }
        }
    }
}

/// Refuses an index that libgit2 must not open, because reading it would block or exhaust the memory.
fn check_index(path: &Path) -> io::Result<()> {
    let size = open_file(path)?.metadata()?.len();
    match size > MAX_INDEX_BYTES {
        true => Err(io::Error::other("it is too large")),
        false => Ok(()),
    }
}

fn pointer(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = open_file(path)?;
    file.take(MAX_POINTER_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
