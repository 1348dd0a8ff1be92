//! Snapshots of a Git worktree, as Git trees in a separate store.
//!
//! [`Snapshots::capture`] gives the files of a worktree an id. With two ids, callers can list
//! changes and restore files. The objects have Git's format, so a Git binary can read them, but
//! this crate does not run one. It never writes to the user's repository: not to its index, its
//! objects, its references or its configuration. Contents are stored as exact bytes: no filter or
//! line-ending conversion of a Git configuration applies.
//!
//! To read the code, follow a capture: `snapshots`, `engine`, `capture`, then the passes in
//! `worktree`. Only `opencode_handles` accesses the files of the worktree, only `repository` and
//! `opencode_git` the user's repository, and only `objects` the store.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod cache;
mod compare;
mod engine;
mod entry;
mod erase;
mod error;
mod held;
mod lock;
mod objects;
mod options;
mod owner;
mod patch;
mod path;
mod repository;
mod rules;
mod snapshots;
mod sweep;
mod tree;
mod worktree;

pub use engine::contents::FileEntries;
pub use entry::{Capture, Entry, Mode, SkipReason, Skipped, SweepResult};
pub use erase::{Erased, Erasure};
pub use error::SnapshotError;
pub use held::{HeldTree, HeldTrees, NotedTrees};
pub use opencode_schema::session::{FileDiff, FileStatus};
pub use options::SnapshotOptions;
pub use owner::Owner;
pub use snapshots::Snapshots;
