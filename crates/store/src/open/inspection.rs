//! Looking for damage after a host that did not close its database.
//!
//! SQLite removes the write-ahead log when its last connection is closed well, and nothing else
//! does. A log that is there at the opening therefore says that the last host was killed, lost its
//! power or met a failure of storage. It costs nothing to keep and survives every way to die.
//!
//! The log makes up for a killed process by itself. What it cannot make up for is a disk that lost
//! or changed pages, and that is looked for: SQLite's `quick_check` reads the whole file, a
//! millisecond for each MiB or more. Up to [`AT_ONCE`] that is done before anything else, and
//! damage keeps the database shut. A larger file would keep every host waiting that was killed, for
//! damage that hardly ever is there; so it is read beside the work, table by table, and damage ends
//! the writing, which is what the first read of the damaged page would do as well.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rusqlite::{Connection, ErrorCode};

use crate::open::open_reader;

/// Bytes of a file that is looked through before it is used.
const AT_ONCE: u64 = 8 * 1024 * 1024;

/// Steps of SQLite's machine between two looks at whether to stop.
const STEPS: i32 = 1000;

/// What is to be looked through after an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// Nothing: the last host closed the database.
    None,
    /// A small file, before it is used.
    Small,
    /// A large file, beside the work.
    Large,
}

impl Suspicion {
    /// Of the file at `path`, before it is opened.
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

/// The first damage in a file, or in one of its tables.
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

/// What to do about damage, as part of a message.
pub(crate) fn advise(damage: &str) -> String {
    let damage = damage.replace('\n', " ");
    format!(
        "it is damaged ({damage}); put a copy from before in its place, or move it away together with its -wal file to begin with an empty one"
    )
}

/// A look through a large file under way. It stops when this is dropped.
pub(crate) struct Inspection {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Inspection {
    /// Reads the file on a connection of its own and reports damage.
    pub(crate) fn start(path: PathBuf, report: impl FnOnce(String) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let look = move || match look_through(&path, &stopped) {
            Ok(Some(damage)) => report(advise(&damage)),
            Err(error) if !stopped.load(Ordering::Relaxed) => {
                tracing::warn!(%error, "the database is not looked through to its end");
            }
            Ok(None) | Err(_) => {}
        };
        let builder = std::thread::Builder::new().name("opencode-inspection".into());
        let thread = opencode_log::spawn_thread(builder, look)
            .inspect_err(|error| tracing::error!(%error, "the database is not looked through"));
        Self {
            stop,
            thread: thread.ok(),
        }
    }

    /// Stops and returns once the connection is closed.
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

fn look_through(path: &Path, stopped: &Arc<AtomicBool>) -> rusqlite::Result<Option<String>> {
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
    // A view of the database for each, so that the write-ahead log may begin anew in between.
    for table in tables {
        if let Some(damage) = damage(&connection, Some(&table))? {
            return Ok(Some(damage));
        }
    }
    Ok(None)
}
