//! Kinds of directory entries, and stamps that detect changes.

use std::{io, time::SystemTime};

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A regular file that its owner may execute. Not every system provides this.
    Executable,
    /// A symbolic link, which is never followed.
    Link,
    /// A directory.
    Directory,
    /// A FIFO, a socket or a device.
    Other,
}

impl Kind {
    /// True for a regular file, executable or not.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }

    /// Fails if the entry is not a regular file.
    pub(crate) fn require_file(self) -> io::Result<()> {
        if self.is_file() {
            return Ok(());
        }
        let kind = io::ErrorKind::NotADirectory;
        Err(io::Error::new(kind, "it is not a regular file"))
    }
}

/// Metadata that detects changes of a file. Every change of its content, mode or identity changes
/// one of these values, unless it happens within one tick of the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Kind of the file.
    pub kind: Kind,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, in nanoseconds since 1970.
    pub modified: i64,
    /// Time of the last change of content or metadata, in nanoseconds since 1970. Programs cannot
    /// set it.
    pub changed: i64,
    /// Inode number within the file system.
    pub inode: u64,
    /// True if it is not a directory and has other names (hard links), through which it could
    /// change.
    pub has_other_names: bool,
}

/// Maximum tick of a clock with fractions of seconds, in nanoseconds, with a margin.
const TICK: i64 = 50_000_000;

/// Tick of a clock without fractions of seconds, in nanoseconds.
const COARSE_TICK: i64 = 2_000_000_000;

impl Stamp {
    /// True if content that was read at `now` or later certainly belongs to this stamp: the last
    /// change is old enough that another change would have a different time.
    pub fn is_settled(&self, now: i64) -> bool {
        let tick = if self.changed % 1_000_000_000 == 0 {
            COARSE_TICK
        } else {
            TICK
        };
        self.changed.saturating_add(tick) <= now
    }
}

/// Returns the current time in the unit of stamps: nanoseconds since 1970.
pub fn now() -> i64 {
    nanoseconds(SystemTime::now())
}

/// Converts a time to nanoseconds since 1970. Earlier times become 0.
pub(crate) fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
