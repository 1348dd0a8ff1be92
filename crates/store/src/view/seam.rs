//! Where the store touches its file, for tests: they watch there, disturb, and kill the process.
//!
//! A host has no seam, and pays for that with one comparison at each of these places.

use std::sync::Arc;

use opencode_schema::event::DurableEvent;
use rusqlite::ffi;

use crate::format::entry::Committed;

/// A place where the store touches its file.
#[derive(Debug, Clone, Copy)]
pub enum Moment<'a> {
    /// Before a transaction begins.
    Begin,
    /// An entry and its projection are written inside the transaction; nothing is committed.
    Appended(&'a DurableEvent),
    /// Before the outer commit of these entries; none where a command writes only other rows.
    Commit(&'a [Committed]),
    /// After the commit, before anybody is signalled or told.
    Committed(&'a [Committed]),
    /// After tails, listener and callers were told.
    Told(&'a [Committed]),
    /// Before the write-ahead log is folded into the file.
    Checkpoint,
    /// Before a read begins.
    Read,
}

/// What storage can do to a caller there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full.
    Full,
    /// An I/O error.
    Io,
    /// Another process holds the file, for longer than anybody waits.
    Locked,
}

/// Sees every [`Moment`] on the thread where it happens, and may let it fail.
///
/// Nothing can fail at [`Moment::Committed`] and [`Moment::Told`], so a fault there is ignored.
pub trait Seam: Send + Sync {
    /// Called at each moment. A fault takes the way of the same failure of SQLite.
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault>;
}

/// The seam, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Watched(Option<Arc<dyn Seam>>);

impl Watched {
    pub(crate) fn by(seam: Option<Arc<dyn Seam>>) -> Self {
        Self(seam)
    }

    /// Whether there is one.
    pub(crate) fn is_seen(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn at(&self, moment: Moment<'_>) -> rusqlite::Result<()> {
        match &self.0 {
            None => Ok(()),
            Some(seam) => seam.at(moment).map_err(|fault| failure(fault, moment)),
        }
    }

    /// Tells a moment at which nothing can fail.
    pub(crate) fn tell(&self, moment: Moment<'_>) {
        if let Some(seam) = &self.0 {
            // What is committed stays so, whatever the seam wishes.
            let _ = seam.at(moment);
        }
    }
}

/// What SQLite reports when this happens there.
fn failure(fault: Fault, moment: Moment<'_>) -> rusqlite::Error {
    let code = match (fault, moment) {
        (Fault::Full, _) => ffi::SQLITE_FULL,
        (Fault::Io, Moment::Read) => ffi::SQLITE_IOERR_READ,
        (Fault::Io, _) => ffi::SQLITE_IOERR_WRITE,
        (Fault::Locked, _) => ffi::SQLITE_BUSY,
    };
    let text = match fault {
        Fault::Full => "database or disk is full",
        Fault::Io => "disk I/O error",
        Fault::Locked => "database is locked",
    };
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned()))
}
