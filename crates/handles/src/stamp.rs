//! What stands under a name, and what tells whether it changed.

use std::{io, time::SystemTime};

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A regular file that its owner may execute. Not every system knows this.
    Executable,
    /// A symbolic link, which is never followed.
    Link,
    /// A directory.
    Directory,
    /// A FIFO, a socket, a device.
    Other,
}

impl Kind {
    /// Whether it is a regular file, executable or not.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }

    /// Refuses what is no regular file.
    pub(crate) fn require_file(self) -> io::Result<()> {
        if self.is_file() {
            return Ok(());
        }
        let kind = io::ErrorKind::NotADirectory;
        Err(io::Error::new(kind, "it is not a regular file"))
    }
}

/// What tells that a file is still the one that was read. Every change of a file's content, mode or
/// identity changes one of these, unless it happens within one tick of the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// What it is.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// When the system changed anything about it, in nanoseconds since 1970. Nobody can set this.
    pub changed: i64,
    /// Which one of its file system it is.
    pub inode: u64,
    /// Whether it is no directory and could be changed under another name (a hard link).
    pub has_other_names: bool,
}

/// The longest tick of a clock that tells fractions of seconds, with a margin.
const TICK: i64 = 50_000_000;

/// The tick of one that does not.
const COARSE_TICK: i64 = 2_000_000_000;

impl Stamp {
    /// Whether what was read at `now` or later has to be what a file with this stamp holds: the last
    /// change is so long ago that another one would have a time of its own.
    pub fn is_settled(&self, now: i64) -> bool {
        let tick = if self.changed % 1_000_000_000 == 0 {
            COARSE_TICK
        } else {
            TICK
        };
        self.changed.saturating_add(tick) <= now
    }
}

/// The present, as stamps tell it.
pub fn now() -> i64 {
    nanoseconds(SystemTime::now())
}

/// Nanoseconds since 1970, none for what was before.
pub(crate) fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
