//! Errors of the database.

use std::path::PathBuf;

use opencode_schema::event::EventError;

use crate::holder::Holder;
use crate::integer::Sequence;

/// The reason that a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another host has the database open, in this process or in another process.
    #[error(
        "the database {path} is already open {holder}; close that host, or give this one another file"
    )]
    InUse {
        /// The database file.
        path: PathBuf,
        /// Process that has the database open.
        holder: Holder,
    },
    /// A newer version of this program wrote the database.
    #[error(
        "the database {path} has schema version {found}, this version of opencode-embedded knows up to {known}; use a newer version of the package, or another file"
    )]
    Version {
        /// The database file.
        path: PathBuf,
        /// Schema version of the database.
        found: i64,
        /// Newest schema version that this program supports.
        known: i64,
    },
    /// The database cannot be opened, or it belongs to another program.
    #[error("cannot open the database {path}: {reason}")]
    Unavailable {
        /// The database file.
        path: PathBuf,
        /// Reason of the failure.
        reason: String,
    },
}

/// The reason why a command on an open database failed. It stored nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Storage failed (full, I/O error, damage), now or in an earlier command. The host must be
    /// opened again.
    #[error("the database failed ({0}); close this host and open it again")]
    Poisoned(String),
    /// Another process held the file for longer than a command waits. The caller may retry.
    #[error(
        "another process holds the database ({0}); try again, and let nothing else write to the file"
    )]
    Busy(String),
    /// The disk has no space for the second copy of the database that an erasure writes. The store works as before.
    #[error(
        "the disk, or that of temporary files, has no space for a second copy of the database ({0}); free some space and try again"
    )]
    NoSpace(String),
    /// The host is closing.
    #[error("the database is closed")]
    Closed,
    /// SQLite refused the command.
    #[error("the database refused the command: {0}")]
    Database(String),
    /// A stored entry cannot be read.
    #[error("the stored entry {seq} cannot be read: {reason}")]
    Corrupt {
        /// Sequence of the entry. -1 if a row of a projection cannot be read.
        seq: Sequence,
        /// Reason of the failure.
        reason: String,
    },
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        use rusqlite::ErrorCode::{
            DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, ReadOnly,
            SystemIoFailure,
        };
        match (&error, error.sqlite_error_code()) {
            (
                FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..),
                _,
            ) => Self::corrupt(NO_ENTRY, error),
            (_, Some(DiskFull | SystemIoFailure | DatabaseCorrupt | NotADatabase | ReadOnly)) => {
                Self::Poisoned(error.to_string())
            }
            (_, Some(DatabaseBusy | DatabaseLocked)) => Self::Busy(error.to_string()),
            // The most frequent cause is a temporary lack of file descriptors. If the file is gone,
            // the next commit detects it.
            _ => Self::Database(error.to_string()),
        }
    }
}

/// The reason why a command stored nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Abort<E> {
    /// The command decided so. Its changes are taken back.
    Refused(E),
    /// Storage failed.
    Failed(StoreError),
}

impl<E> Abort<E> {
    /// The same, with another reason for a refusal.
    pub fn map<F>(self, change: impl FnOnce(E) -> F) -> Abort<F> {
        match self {
            Self::Refused(reason) => Abort::Refused(change(reason)),
            Self::Failed(error) => Abort::Failed(error),
        }
    }

    /// A failure of storage, for a refusal that must not occur.
    pub fn unexpected(self) -> StoreError
    where
        E: std::fmt::Display,
    {
        match self {
            Self::Refused(reason) => StoreError::Database(reason.to_string()),
            Self::Failed(error) => error,
        }
    }
}

impl<E> From<StoreError> for Abort<E> {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl<E> From<rusqlite::Error> for Abort<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Sequence in an error that concerns a row of a projection and not an entry.
const NO_ENTRY: Sequence = Sequence::BEFORE_FIRST;

impl StoreError {
    /// Creates the error for a stored entry that does not decode as its type.
    pub(crate) fn corrupt(seq: Sequence, reason: impl ToString) -> Self {
        Self::Corrupt {
            seq,
            reason: reason.to_string(),
        }
    }

    /// Creates the error for a stored row that does not decode as its type.
    pub(crate) fn corrupt_row(reason: impl ToString) -> Self {
        Self::corrupt(NO_ENTRY, reason)
    }

    /// Returns the same failure with the sequence of the entry that was read.
    pub(crate) fn of_entry(self, seq: Sequence) -> Self {
        match self {
            Self::Corrupt { reason, .. } => Self::Corrupt { seq, reason },
            other => other,
        }
    }

    pub(crate) fn event(seq: Sequence, error: &EventError) -> Self {
        Self::corrupt(seq, error)
    }
}
