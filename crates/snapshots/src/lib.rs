//! Snapshots of a Git worktree, as Git trees in a store of their own.
//!
//! [`Snapshots::capture`] gives the files of a worktree an id; with two ids one can ask what changed
//! and put files back. The objects are Git's, and a Git binary can read them, but none is run, and
//! nothing of the user's repository is written: not its index, its objects, its references or its
//! configuration. Contents are kept as the bytes they are: no filter and no line ending of a
//! configuration counts.
//!
//! To read it, follow a capture: `snapshots`, `engine`, `capture`, then the passes in `worktree`.
//! `opencode_handles` is the only way to the worktree's files, `repository` to the user's repository, and
//! `objects` to what is stored.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod alternates;
mod cache;
mod compare;
mod engine;
mod entry;
mod error;
mod lock;
mod objects;
mod options;
mod patch;
mod path;
mod repository;
mod rules;
mod snapshots;
mod sweep;
mod tree;
mod worktree;

pub use engine::looks::Looks;
pub use entry::{Capture, Entry, Mode, SkipReason, Skipped, Swept};
pub use error::SnapshotError;
pub use opencode_schema::session::{FileDiff, FileStatus};
pub use options::SnapshotOptions;
pub use snapshots::Snapshots;
