//! Checkpoints of the write-ahead log, which SQLite would otherwise run inside a commit.
//!
//! The writer runs checkpoints between batches, after the callers have received their answers. So a
//! failed checkpoint does not fail a commit: the committed data is in the log, is read from there,
//! and the next attempt or the next opening checkpoints it. The store stops only if attempts fail
//! until the log reaches [`LIMIT`], or if they find the file damaged.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, ffi};

use crate::open::BUSY_TIMEOUT;
use crate::view::test_hook::{Hook, Moment};

/// Number of log pages that triggers a checkpoint, and a retry after a failed attempt: 4 MiB. A
/// checkpoint of this size takes milliseconds.
const LENGTH: u32 = 1000;

/// Number of log pages from which on the writer waits for readers. Otherwise readers could prevent
/// the log from ever restarting.
const LONG: u32 = 4 * LENGTH;

/// Maximum wait for readers. A read takes microseconds to milliseconds.
const READER_WAIT: Duration = Duration::from_millis(100);

/// Number of log pages at which failed checkpoints stop the store: 64 MiB.
const LIMIT: u32 = 16 * LENGTH;

/// Size in bytes that the log file keeps after the checkpoint of a large transaction.
const KEPT: u32 = 16 * 1024 * 1024;

/// The write-ahead log, as the writer sees it.
pub(crate) struct Log {
    /// Number of pages after the newest commit. SQLite's hook writes it on the writer thread.
    pages: Arc<AtomicU32>,
    /// Number of pages after the previous commit.
    before: Cell<u32>,
    /// Number of pages at which the next checkpoint is due.
    due: Cell<u32>,
}

impl Log {
    /// Follows the log of the writing connection and disables SQLite's automatic checkpoints.
    pub(crate) fn follow(connection: &mut Connection) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicU32::new(0));
        let newest = Arc::clone(&pages);
        connection.wal_hook(Some(move |_: &mut Wal, pages: i32| {
            newest.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))?;
        connection.pragma_update(None, "journal_size_limit", KEPT)?;
        Ok(Self {
            pages,
            before: Cell::new(0),
            due: Cell::new(LENGTH),
        })
    }

    /// Runs a checkpoint if one is due. An error means that the store cannot continue.
    pub(crate) fn checkpoint_if_due(
        &self,
        connection: &Connection,
        hook: &Hook,
    ) -> Result<(), String> {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.before.replace(pages) {
            self.due.set(LENGTH);
        }
        if pages < self.due.get() {
            return Ok(());
        }
        self.due.set(pages + LENGTH);
        let mode = if pages < LONG { "PASSIVE" } else { "TRUNCATE" };
        let Err(error) = checkpoint(connection, hook, mode) else {
            return Ok(());
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                tracing::warn!(pages, %error, "the write-ahead log is in use and grows");
                Ok(())
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Err(error.to_string()),
            _ if pages >= LIMIT => Err(format!(
                "its write-ahead log cannot be folded into the file: {error}"
            )),
            _ => {
                tracing::error!(pages, %error, "the write-ahead log cannot be folded into the file");
                Ok(())
            }
        }
    }
}

/// Checkpoints the whole log at the end, which saves the next opening the work. If the store has
/// failed or the checkpoint fails, the log is kept. The next opening then checks for damage.
pub(crate) fn checkpoint_at_end(connection: &Connection, hook: &Hook, failed: bool) {
    let checkpointed = match failed {
        true => return keep_log(connection),
        false => checkpoint(connection, hook, "TRUNCATE"),
    };
    if let Err(error) = checkpointed {
        tracing::warn!(%error, "the write-ahead log is left to the next opening");
        keep_log(connection);
    }
}

/// Prevents SQLite from running a checkpoint when the connection is closed.
fn keep_log(connection: &Connection) {
    let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    if let Err(error) = connection.set_db_config(keep, true) {
        tracing::debug!(%error, "the write-ahead log is folded after all");
    }
}

fn checkpoint(connection: &Connection, hook: &Hook, mode: &str) -> rusqlite::Result<()> {
    hook.at(Moment::Checkpoint)?;
    connection.busy_timeout(READER_WAIT)?;
    let is_busy = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        row.get::<_, bool>(0)
    });
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if is_busy? {
        let busy = ffi::Error::new(ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, None));
    }
    Ok(())
}
