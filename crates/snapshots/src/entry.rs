//! What a snapshot says of a file.

/// A file in a snapshot, or as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The Git id of its content, as 40 hexadecimal digits; of a link, that of its target.
    pub id: String,
    /// What kind of file it is.
    pub mode: Mode,
}

/// The kinds of files that Git knows.
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
    /// As Git writes it, in octal digits.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

/// What [`capture`](crate::Snapshots::capture) found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The id of the snapshot: a Git tree, as 40 hexadecimal digits. The same files have the same id.
    pub tree: String,
    /// What was left out although no rule ignores it, in the order of paths; the first hundred.
    pub skipped: Vec<Skipped>,
}

/// Something in the worktree that a snapshot does not hold, and that restoring leaves alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its path relative to the worktree; what is not UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// Why something is left out of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// Over 2 MiB and not tracked by Git, or over 64 MiB.
    TooLarge,
    /// A name that is not UTF-8.
    Name,
    /// A FIFO, a socket or a device.
    Special,
    /// It may not be read.
    Unreadable,
    /// A Git repository within the worktree, a submodule for example.
    Repository,
}

/// What [`sweep`](crate::Snapshots::sweep) removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Objects, and files that killed processes left behind.
    pub removed: u64,
    /// Bytes on disk that they took.
    pub bytes: u64,
    /// Objects that stay.
    pub kept: u64,
}
