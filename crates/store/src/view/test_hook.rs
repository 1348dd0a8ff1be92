//! Test hooks at each access to the file. Tests observe the access, inject faults or kill the
//! process there.
//!
//! A host has no hook. It pays one comparison at each of these points.

use std::sync::Arc;

use opencode_schema::event::DurableEvent;
use rusqlite::ffi;

use crate::format::entry::Committed;

/// A point at which the store accesses its file.
#[derive(Debug, Clone, Copy)]
pub enum Moment<'a> {
    /// Before a transaction begins.
    Begin,
    /// An entry and its projection are written inside the transaction; nothing is committed.
    Appended(&'a DurableEvent),
    /// Before the outer commit of these entries. Empty if a command writes only other rows.
    Commit(&'a [Committed]),
    /// After the commit, before any notification.
    Committed(&'a [Committed]),
    /// After tails, listener and callers were notified.
    Notified(&'a [Committed]),
    /// Before the write-ahead log is checkpointed.
    Checkpoint,
    /// Before a read begins.
    Read,
}

/// A storage fault to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full.
    Full,
    /// An I/O error.
    Io,
    /// Another process holds the file for longer than commands wait.
    Locked,
}

/// Receives every [`Moment`] on the thread where it happens, and can inject a fault.
///
/// Nothing can fail at [`Moment::Committed`] and [`Moment::Notified`], so a fault there is ignored.
pub trait TestHook: Send + Sync {
    /// Called at each moment. The store handles a fault like the same failure of SQLite.
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault>;
}

/// The hook, if any.
#[derive(Clone, Default)]
pub(crate) struct Hook(Option<Arc<dyn TestHook>>);

impl Hook {
    pub(crate) fn new(hook: Option<Arc<dyn TestHook>>) -> Self {
        Self(hook)
    }

    /// True if there is a hook.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn at(&self, moment: Moment<'_>) -> rusqlite::Result<()> {
        match &self.0 {
            None => Ok(()),
            Some(hook) => hook.at(moment).map_err(|fault| failure(fault, moment)),
        }
    }

    /// Reports a moment at which nothing can fail.
    pub(crate) fn report(&self, moment: Moment<'_>) {
        if let Some(hook) = &self.0 {
            // A committed transaction stays committed, so a fault is ignored.
            let _ = hook.at(moment);
        }
    }
}

/// Returns the error that SQLite reports for this fault.
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
