//! Entries and results of snapshots.

use crate::held::HeldTree;

/// A file in a snapshot or in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Git id of the content, as 40 hexadecimal digits. For a link: the id of its target path.
    pub id: String,
    /// Kind of the file.
    pub mode: Mode,
}

/// The kinds of files that Git supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// A regular file.
    File,
    /// A regular file that its owner may execute.
    Executable,
    /// A symbolic link, which is never followed.
    Link,
}

impl Mode {
    /// Returns the mode in octal digits, as Git writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

/// The result of [`capture`](crate::Snapshots::capture).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Id of the snapshot: a Git tree, as 40 hexadecimal digits. Equal files have equal ids.
    pub tree: String,
    /// Paths that were skipped although no rule ignores them, in the order of paths. At most the
    /// first hundred.
    pub skipped: Vec<Skipped>,
    /// Keeps the snapshot until a session names it.
    pub held: HeldTree,
}

/// A path in the worktree that a snapshot does not contain and that a restore leaves unchanged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Path relative to the worktree. Parts that are not UTF-8 are replaced.
    pub path: String,
    /// Reason of the omission.
    pub reason: SkipReason,
}

/// The reason that a path is not part of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// Over 2 MiB and not tracked by Git, or over 64 MiB.
    TooLarge,
    /// The name is not UTF-8.
    Name,
    /// The path is a FIFO, a socket or a device.
    Special,
    /// The host has no permission to read the file.
    Unreadable,
    /// The path is a Git repository within the worktree, for example a submodule.
    Repository,
}

/// The result of [`sweep`](crate::Snapshots::sweep).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// Number of removed objects and files of killed processes.
    pub removed: u64,
    /// Size of the removed files on disk, in bytes.
    pub bytes: u64,
    /// Number of remaining objects.
    pub kept: u64,
}
