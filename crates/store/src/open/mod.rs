//! Opening a database: its canonical path, and the settings of connections.

pub(crate) mod hold;
pub(crate) mod inspection;
pub(crate) mod lock;
pub(crate) mod migrate;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use opencode_handles::create_private_folder;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::OpenError;
use crate::open::hold::DatabaseHold;
use crate::open::inspection::{Suspicion, advise, damage};
use crate::open::migrate::{check_owner, migrate};

/// The guarantee for acknowledged commits after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Acknowledged commits survive the death of the process. A power failure can lose the last
    /// commits.
    #[default]
    Normal,
    /// Acknowledged commits also survive a power failure. Each commit costs a disk flush.
    Full,
}

/// The path of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabasePath {
    /// In memory. The data is lost when the host closes.
    Memory,
    /// In this file. SQLite and the host create `-wal`, `-shm` and `.lock` files beside it.
    File(PathBuf),
}

/// Page cache of each connection, in KiB. Small, because the operating system also caches the file.
const CACHE_KIB: i64 = 2048;

/// Maximum time that a command waits for another process that holds the file.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of nested links followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

/// An open database: the writing connection, and the file unless the database is in memory.
pub(crate) struct Opened {
    pub(crate) writer: Connection,
    pub(crate) file: Option<Locked>,
}

/// A database file that no other host can open.
pub(crate) struct Locked {
    /// Canonical path, which stays correct when the working directory changes.
    pub(crate) path: PathBuf,
    /// Held as long as the database is open.
    pub(crate) held: DatabaseHold,
    /// Check that the file needs after the last host.
    pub(crate) suspicion: Suspicion,
}

pub(crate) fn open(path: &DatabasePath, durability: Durability) -> Result<Opened, OpenError> {
    match path {
        DatabasePath::Memory => {
            let named = Path::new(":memory:");
            let mut writer =
                Connection::open_in_memory().map_err(|error| unavailable(named, error))?;
            prepare(&mut writer, named, durability, (Suspicion::None, false))?;
            Ok(Opened { writer, file: None })
        }
        DatabasePath::File(named) => {
            let path = resolve(named).map_err(|error| unavailable(named, error))?;
            if path.is_dir() {
                return Err(unavailable(named, "it is a folder"));
            }
            if path.exists() && !path.is_file() {
                return Err(unavailable(named, "it is not a regular file"));
            }
            let mut held = DatabaseHold::take(&path, named)?;
            let suspicion = Suspicion::of(&path);
            let is_new = is_new(&path).map_err(|error| unavailable(named, error))?;
            let mut writer = Connection::open_with_flags(&path, flags(false))
                .map_err(|error| unavailable(named, error))?;
            prepare(&mut writer, named, durability, (suspicion, is_new))?;
            held.opened();
            let file = Locked {
                path,
                held,
                suspicion,
            };
            Ok(Opened {
                writer,
                file: Some(file),
            })
        }
    }
}

/// Opens a read-only connection.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let reader = Connection::open_with_flags(path, flags(true))?;
    settings(&reader)?;
    Ok(reader)
}

fn flags(read_only: bool) -> OpenFlags {
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
    };
    // Each connection belongs to one thread at a time, so it does not need SQLite's mutexes.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Returns the canonical path of a file and creates its folders. With links or relative parts, two
/// hosts would otherwise take two locks for one file, and SQLite would use two logs.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            resolved => return resolved,
        }
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        create_private_folder(folder)?;
        let folder = folder.canonicalize()?;
        let file = folder.join(name);
        // SQLite follows a dangling link and creates its target.
        match std::fs::read_link(&file) {
            Ok(target) => path = folder.join(target),
            Err(_) => return Ok(file),
        }
    }
    Err(io::Error::other("too many links"))
}

fn prepare(
    writer: &mut Connection,
    path: &Path,
    durability: Durability,
    (suspicion, is_new): (Suspicion, bool),
) -> Result<(), OpenError> {
    let fail = |error: rusqlite::Error| unavailable(path, error);
    settings(writer).map_err(fail)?;
    // Keep the write-ahead log until all checks pass. This host must not checkpoint the log of a
    // damaged file or of another program's file.
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    writer.set_db_config(keep_log, true).map_err(fail)?;
    let found = check_owner(writer, path)?;
    if is_new {
        // There is nothing to restore, so SQLite needs no journal for the first page. It flushes that page.
        set(writer, "journal_mode", "OFF").map_err(fail)?;
    }
    set(writer, "journal_mode", "WAL").map_err(fail)?;
    let has_journal: bool = writer
        .pragma_query_value(None, "journal_mode", |row| {
            Ok(row.get_ref(0)?.as_str()? != "off")
        })
        .map_err(fail)?;
    if !has_journal {
        set(writer, "journal_mode", "DELETE").map_err(fail)?;
    }
    if is_new {
        // A new file without its schema is a new file. Later commits make the schema as durable as they are themselves.
        set(writer, "synchronous", "OFF").map_err(fail)?;
        migrate(writer, path, found)?;
    }
    let synchronous = match durability {
        Durability::Normal => "NORMAL",
        Durability::Full => "FULL",
    };
    set(writer, "synchronous", synchronous).map_err(fail)?;
    // On macOS, an ordinary flush stops at the drive's cache. On other systems this setting has no
    // effect.
    writer
        .pragma_update(None, "fullfsync", durability == Durability::Full)
        .map_err(fail)?;
    if suspicion == Suspicion::Small
        && let Some(damage) = damage(writer, None).map_err(fail)?
    {
        return Err(unavailable(path, advise(&damage)));
    }
    if !is_new {
        migrate(writer, path, found)?;
    }
    writer
        // No copy is under way in a host that opens.
        .execute_batch(
            "BEGIN;
             UPDATE removed SET residue = 1 WHERE EXISTS (SELECT 1 FROM hidden WHERE is_copy = 1);
             UPDATE hidden SET is_copy = 0 WHERE is_copy = 1;
             COMMIT",
        )
        .map_err(fail)?;
    writer
        .set_db_config(keep_log, false)
        .map(|_| ())
        .map_err(fail)
}

/// True if a database begins in this file. A power failure in the moment of its creation can leave a page of zeros, which
/// SQLite refuses; such a file becomes empty again. Call it before SQLite opens the file.
fn is_new(path: &Path) -> io::Result<bool> {
    const PAGE: usize = 4096;
    let length = path.metadata()?.len();
    if length == PAGE as u64 && std::fs::read(path)? == [0; PAGE] {
        File::options().write(true).open(path)?.set_len(0)?;
        return Ok(true);
    }
    Ok(length == 0)
}

fn set(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    connection.pragma_update(None, name, value)
}

fn settings(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(128);
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Statements keep their plan for all bound values. Otherwise SQLite would plan many of them
    // again for every value, which costs more than to run them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)
}

pub(crate) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

pub(crate) fn unavailable(path: &Path, reason: impl ToString) -> OpenError {
    OpenError::Unavailable {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
