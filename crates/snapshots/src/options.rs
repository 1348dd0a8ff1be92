//! The options of snapshots.

use std::path::PathBuf;

/// Where snapshots are taken and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// The directory of the objects; created with the first snapshot. Others may use it, too, other
    /// processes included.
    pub store: PathBuf,
    /// The root of the worktree, without links in it.
    pub worktree: PathBuf,
    /// The part of the worktree that is captured, relative to it; empty for all of it.
    pub scope: PathBuf,
    /// What the host keeps for itself, in case it lies within the worktree: absolute paths, of which
    /// nothing is captured, as nothing of the store is.
    pub private: Vec<PathBuf>,
}
