//! Folding the write-ahead log into the file, which SQLite would otherwise do inside a commit.
//!
//! The writer folds between batches, after their callers have their answers. So a log that cannot
//! be folded is no commit's failure: what is committed lies in the log, is read from there, and the
//! next attempt or the next opening folds it. Only when attempts keep failing until the log has
//! reached [`LIMIT`], or when they find the file damaged, the store refuses to go on.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, ffi};

use crate::open::BUSY_TIMEOUT;
use crate::view::seam::{Moment, Watched};

/// Pages of the log after which it is folded, and after which a vain attempt is repeated: 4 MiB,
/// whose folding takes milliseconds.
const LENGTH: u32 = 1000;

/// Pages from which on the writer waits for readers, who otherwise could keep the log from ever
/// beginning anew.
const LONG: u32 = 4 * LENGTH;

/// How long it waits. A read takes microseconds to milliseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// Pages of a log that cannot be folded at which the store gives up: 64 MiB.
const LIMIT: u32 = 16 * LENGTH;

/// Bytes that the log's file keeps once a large transaction is folded.
const KEPT: u32 = 16 * 1024 * 1024;

/// The write-ahead log, as the writer sees it.
pub(crate) struct Log {
    /// Pages in it after the newest commit. Written by SQLite's hook on the writer's thread.
    pages: Arc<AtomicU32>,
    /// Pages after the commit before.
    before: Cell<u32>,
    /// Pages at which it is folded next.
    due: Cell<u32>,
}

impl Log {
    /// Follows the log of the writing connection. SQLite does not fold it by itself any more.
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

    /// Folds the log if it has become long. An error says that the store cannot go on.
    pub(crate) fn fold_if_due(
        &self,
        connection: &Connection,
        watched: &Watched,
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
        let Err(error) = fold(connection, watched, mode) else {
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

/// Folds the whole log at the end, which spares the next opening the work. A log that cannot be
/// folded, or whose store has failed, is left to the next opening: it finds out what was damaged.
pub(crate) fn fold_at_end(connection: &Connection, watched: &Watched, failed: bool) {
    let folded = match failed {
        true => return leave(connection),
        false => fold(connection, watched, "TRUNCATE"),
    };
    if let Err(error) = folded {
        tracing::warn!(%error, "the write-ahead log is left to the next opening");
        leave(connection);
    }
}

/// Keeps SQLite from folding the log when the connection goes.
fn leave(connection: &Connection) {
    let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    if let Err(error) = connection.set_db_config(keep, true) {
        tracing::debug!(%error, "the write-ahead log is folded after all");
    }
}

fn fold(connection: &Connection, watched: &Watched, mode: &str) -> rusqlite::Result<()> {
    watched.at(Moment::Checkpoint)?;
    connection.busy_timeout(PATIENCE)?;
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
