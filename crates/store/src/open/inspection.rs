//! Detection of damage after a host that did not close its database.
//!
//! SQLite removes the write-ahead log only when its last connection is closed properly. So a log
//! that exists at the opening means that the last host was killed, lost power or had a storage
//! failure. This marker needs no extra write and exists after every kind of failure.
//!
//! The log itself repairs the effects of a killed process. It cannot repair pages that a disk lost
//! or changed. SQLite's `quick_check` detects those. It reads the whole file and takes a
//! millisecond or more for each MiB. Up to [`AT_ONCE`], the check runs before the database is used,
//! and damage prevents the opening. For a larger file, that would delay every host after a kill,
//! although damage is rare. So a thread checks a larger file during normal operation, table by
//! table. Damage then stops all writing, as the first read of the damaged page would.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rusqlite::{Connection, ErrorCode};

use crate::open::open_reader;

/// Maximum size in bytes of a file that is checked before it is used.
const AT_ONCE: u64 = 8 * 1024 * 1024;

/// Number of SQLite VM steps between two checks of the stop flag.
const STEPS: i32 = 1000;

/// The check that a file needs after an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// No check: the last host closed the database.
    None,
    /// A small file, which is checked before it is used.
    Small,
    /// A large file, which is checked during normal operation.
    Large,
}

impl Suspicion {
    /// Returns the check that the file at `path` needs. Call it before opening the file.
    pub(crate) fn of(path: &Path) -> Self {
        let mut log = OsString::from(path);
        log.push("-wal");
        let size = |path: &Path| std::fs::metadata(path).map(|file| file.len());
        let Ok(more) = size(&PathBuf::from(log)) else {
            return Self::None;
        };
        match size(path).unwrap_or(0) + more {
            ..=AT_ONCE => Self::Small,
            _ => Self::Large,
        }
    }
}

/// Returns the first damage in a file or in one of its tables.
pub(crate) fn damage(
    connection: &Connection,
    table: Option<&str>,
) -> rusqlite::Result<Option<String>> {
    let what = table.unwrap_or("1");
    let found = connection.query_row(&format!("PRAGMA quick_check({what})"), [], |row| {
        row.get::<_, String>(0)
    });
    match found {
        Ok(found) if found == "ok" => Ok(None),
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Ok(Some(error.to_string()))
            }
            _ => Err(error),
        },
    }
}

/// Returns advice about damage, as part of a message.
pub(crate) fn advise(damage: &str) -> String {
    let damage = damage.replace('\n', " ");
    format!(
        "it is damaged ({damage}); put a copy from before in its place, or move it away together with its -wal file to begin with an empty one"
    )
}

/// A running check of a large file. Dropping it stops the check.
pub(crate) struct Inspection {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Inspection {
    /// Checks the file on a separate connection and reports damage.
    pub(crate) fn start(path: PathBuf, report: impl FnOnce(String) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let inspect = move || match check_tables(&path, &stopped) {
            Ok(Some(damage)) => report(advise(&damage)),
            Err(error) if !stopped.load(Ordering::Relaxed) => {
                tracing::warn!(%error, "the database is not looked through to its end");
            }
            Ok(None) | Err(_) => {}
        };
        let builder = std::thread::Builder::new().name("opencode-inspection".into());
        let thread = opencode_log::spawn_thread(builder, inspect)
            .inspect_err(|error| tracing::error!(%error, "the database is not looked through"));
        Self {
            stop,
            thread: thread.ok(),
        }
    }

    /// Stops the check and returns when the connection is closed.
    pub(crate) fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the look through the database panicked");
        }
    }
}

impl Drop for Inspection {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn check_tables(path: &Path, stopped: &Arc<AtomicBool>) -> rusqlite::Result<Option<String>> {
    let mut connection = open_reader(path)?;
    let stop = Arc::clone(stopped);
    connection.progress_handler(STEPS, Some(move || stop.load(Ordering::Relaxed)))?;
    let tables: Vec<String> = {
        let mut names =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
        names
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?
    };
    // Each table uses a separate read transaction, so that the write-ahead log can restart in
    // between.
    for table in tables {
        if let Some(damage) = damage(&connection, Some(&table))? {
            return Ok(Some(damage));
        }
    }
    Ok(None)
}
