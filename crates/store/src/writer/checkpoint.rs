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

/// Number of times that the writer waits for readers to empty the log.
const ATTEMPTS: u32 = 10;

/// Number of log pages between two attempts to empty the log, so that few commits wait for readers.
const PAUSE: u32 = 32;

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
    /// Number of pages at which a checkpoint must empty the log, because it contains something that was erased.
    empties: Cell<Option<u32>>,
}

impl Log {
    /// Follows the log of the writing connection and disables SQLite's automatic checkpoints. A log that the last host
    /// left may contain something that was erased, so it is emptied after the first commit.
    pub(crate) fn follow(connection: &mut Connection, inherits: bool) -> rusqlite::Result<Self> {
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
            empties: Cell::new(inherits.then_some(0)),
        })
    }

    /// Writes the whole log into the file and empties it. Waits for readers; if they read on and on, a later checkpoint
    /// empties it.
    pub(crate) fn empty(&self, connection: &Connection, hook: &Hook) -> rusqlite::Result<()> {
        let mut emptied = checkpoint(connection, hook, "TRUNCATE");
        for _ in 1..ATTEMPTS {
            match &emptied {
                Err(error) if is_busy(error) => emptied = checkpoint(connection, hook, "TRUNCATE"),
                _ => break,
            }
        }
        let pages = self.pages.load(Ordering::Relaxed);
        self.empties.set(emptied.is_err().then_some(pages + PAUSE));
        emptied
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
            self.empties.set(self.empties.get().and(Some(0)));
        }
        let must_empty = self.empties.get().is_some_and(|at| at <= pages);
        if pages < self.due.get() && !must_empty {
            return Ok(());
        }
        self.due.set(pages + LENGTH);
        let mode = if pages < LONG && !must_empty {
            "PASSIVE"
        } else {
            "TRUNCATE"
        };
        let Err(error) = checkpoint(connection, hook, mode) else {
            if mode == "TRUNCATE" {
                self.empties.set(None);
            }
            return Ok(());
        };
        self.empties
            .set(self.empties.get().and(Some(pages + PAUSE)));
        match error.sqlite_error_code() {
            _ if is_busy(&error) => {
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

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
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
