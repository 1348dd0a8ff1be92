//! The worktree by handles: every directory is opened by itself, below the root, through no link.
//!
//! What is done to a file is done relative to its directory, which stays open. Whoever puts a link in
//! place of a directory, at whatever moment, makes the operation fail instead of leading it outside.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::{io, time::SystemTime};

#[cfg(not(unix))]
pub(crate) use portable::Held;
#[cfg(unix)]
pub(crate) use unix::Held;

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Executable,
    Link,
    Directory,
    /// A FIFO, a socket, a device.
    Other,
}

/// What tells that a file is still the one that was read. Every change of a file's content, mode or
/// identity changes one of these, unless it happens within one tick of the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub kind: Kind,
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: i64,
    /// When the system changed anything about it, in nanoseconds since 1970. Nobody can set this.
    pub changed: i64,
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
    pub(crate) fn is_settled(&self, now: i64) -> bool {
        let tick = if self.changed % 1_000_000_000 == 0 {
            COARSE_TICK
        } else {
            TICK
        };
        self.changed.saturating_add(tick) <= now
    }
}

/// The present, as stamps tell it.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

/// A name in a directory; an approximation of it where it is not UTF-8.
pub(crate) struct Name {
    pub name: Result<String, String>,
    pub kind: Kind,
}

/// Whether an error says that nothing is there, or something else than what was looked for.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Why something is not done where something else stands.
pub(crate) fn in_the_way(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, what.to_owned())
}

/// Splits a path that was judged already into its directory and its name there.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The path of a name in a directory.
pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}
