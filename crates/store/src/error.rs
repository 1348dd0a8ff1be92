//! What can go wrong with the database.

use std::path::PathBuf;

use opencode_schema::event::EventError;

use crate::holder::Holder;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another host, in this process or another, has it open.
    #[error(
        "the database {path} is already open {holder}; close that host, or give this one another file"
    )]
    InUse {
        /// The database file.
        path: PathBuf,
        /// Which process has it open.
        holder: Holder,
    },
    /// A newer version of this program wrote it.
    #[error(
        "the database {path} has schema version {found}, this version of opencode-embedded knows up to {known}; use a newer version of the package, or another file"
    )]
    Version {
        /// The database file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest schema version known here.
        known: i64,
    },
    /// It cannot be opened, or it is no database of ours.
    #[error("cannot open the database {path}: {reason}")]
    Unavailable {
        /// The database file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Why a command on an open database failed. Nothing of it was stored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Storage failed earlier or now (full, I/O error, damage). The host must be opened again.
    #[error("the database failed ({0}); close this host and open it again")]
    Poisoned(String),
    /// Another process holds the file, longer than a command waits. It may be tried again.
    #[error(
        "another process holds the database ({0}); try again, and let nothing else write to the file"
    )]
    Busy(String),
    /// The host is closing.
    #[error("the database is closed")]
    Closed,
    /// SQLite refused the command.
    #[error("the database refused the command: {0}")]
    Database(String),
    /// A stored entry cannot be read.
    #[error("the stored entry {seq} cannot be read: {reason}")]
    Corrupt {
        /// Its sequence; -1 where a row of a projection is what cannot be read.
        seq: i64,
        /// Why.
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
            // Most often the process has no descriptor left for a moment. Whether the file is gone the
            // next commit finds out.
            _ => Self::Database(error.to_string()),
        }
    }
}

/// Stands for the sequence where no entry but a row of a projection cannot be read.
const NO_ENTRY: i64 = -1;

impl StoreError {
    /// A stored entry that does not read as what it says it is.
    pub(crate) fn corrupt(seq: i64, reason: impl ToString) -> Self {
        Self::Corrupt {
            seq,
            reason: reason.to_string(),
        }
    }

    /// A stored row that does not read as what it says it is.
    pub(crate) fn corrupt_row(reason: impl ToString) -> Self {
        Self::corrupt(NO_ENTRY, reason)
    }

    /// The same failure, of the entry whose row was read.
    pub(crate) fn of_entry(self, seq: i64) -> Self {
        match self {
            Self::Corrupt { reason, .. } => Self::Corrupt { seq, reason },
            other => other,
        }
    }

    pub(crate) fn event(seq: i64, error: &EventError) -> Self {
        Self::corrupt(seq, error)
    }
}
