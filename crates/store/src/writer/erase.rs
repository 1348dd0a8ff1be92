//! Erasure of what deleted rows left in the file and in its write-ahead log.
//!
//! SQLite leaves deleted values in free parts of pages, so the file is built again from its rows. One transaction does
//! that: a crash before its commit changes nothing. The erasure stays due until the log, which holds the former pages,
//! is empty.

use rusqlite::{ErrorCode, ffi};

use crate::error::StoreError;
use crate::view::test_hook::Moment;
use crate::writer::IsStopped;
use crate::writer::worker::Worker;

/// Number of SQLite VM steps between two checks whether the work is stopped.
const STEPS: i32 = 100;

impl Worker {
    /// Builds the file again from its rows, and empties the log.
    pub(crate) fn erase(&mut self, is_stopped: IsStopped) -> Result<(), StoreError> {
        if let Some(reason) = self.poison.get() {
            return Err(StoreError::Poisoned(reason.clone()));
        }
        let rebuilt = self.rebuild(is_stopped);
        // Also after a failure, so that the log gives back the space that it took.
        let emptied = self.log.empty(&self.connection, &self.options.hook);
        rebuilt.and(emptied).map_err(|error| self.failed(error))?;
        if let Some(held) = &self.held {
            held.check().map_err(|error| self.record_failure(error))?;
        }
        // The rows of a session that was removed meanwhile are not erased.
        let erased = self.statement(
            "UPDATE removed SET residue = EXISTS (SELECT 1 FROM hidden WHERE is_copy = 0)",
        );
        erased.map_err(|error| self.record_failure(error))
    }

    fn rebuild(&mut self, is_stopped: IsStopped) -> rusqlite::Result<()> {
        self.options.hook.at(Moment::Begin)?;
        if is_stopped() {
            let stopped = ffi::Error::new(ffi::SQLITE_INTERRUPT);
            return Err(rusqlite::Error::SqliteFailure(stopped, None));
        }
        self.connection.progress_handler(STEPS, Some(is_stopped))?;
        let rebuilt = self.connection.execute_batch("VACUUM");
        self.connection.progress_handler(0, None::<IsStopped>)?;
        rebuilt
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            // Everything is as before, so the store continues.
            Some(ErrorCode::DiskFull) => StoreError::NoSpace(error.to_string()),
            Some(ErrorCode::OperationInterrupted) => StoreError::Closed,
            _ => self.record_failure(error.into()),
        }
    }
}
