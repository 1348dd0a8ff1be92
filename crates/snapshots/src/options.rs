//! The options of snapshots.

use std::path::PathBuf;

use crate::held::HeldTrees;
use crate::owner::Owner;

/// The options of [`Snapshots`](crate::Snapshots).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// Directory of the objects, created with the first snapshot. Other instances and processes may
    /// share it.
    pub store: PathBuf,
    /// Root of the worktree. Its path must contain no links.
    pub worktree: PathBuf,
    /// Part of the worktree to capture, relative to its root. Empty means the whole worktree.
    pub scope: PathBuf,
    /// Absolute paths of the host's own files, which may lie within the worktree. They are never
    /// captured, and neither is the store.
    pub private: Vec<PathBuf>,
    /// The database whose sessions use the snapshots.
    pub owner: Owner,
    /// The snapshots that the host holds, in all its stores.
    pub held: HeldTrees,
}
