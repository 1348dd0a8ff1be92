//! Opening a database: its one name, and the settings of connections.

pub(crate) mod hold;
pub(crate) mod inspection;
pub(crate) mod lock;
pub(crate) mod migrate;

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

/// What survives which failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Nothing acknowledged is lost when the process dies; the last commits may be when the power does.
    #[default]
    Normal,
    /// Nothing acknowledged is lost when the power fails either, at the price of a disk flush per commit.
    Full,
}

/// Where the database lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabasePath {
    /// In memory, gone when the host closes.
    Memory,
    /// In this file, beside which `-wal`, `-shm` and `.lock` files live.
    File(PathBuf),
}

/// Page cache of each connection, in KiB. Small: the operating system caches the file as well.
const CACHE_KIB: i64 = 2048;

/// How long a command waits for another process that holds the file.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Links to links that are followed to a file which does not exist yet.
const MAX_LINKS: usize = 40;

/// An open database: the writing connection, and the file unless it lies in memory.
pub(crate) struct Opened {
    pub(crate) writer: Connection,
    pub(crate) file: Option<Locked>,
}

/// A database file that no other host can open.
pub(crate) struct Locked {
    /// Its one name, which stays right when the working directory changes.
    pub(crate) path: PathBuf,
    /// Held as long as the database is open.
    pub(crate) held: DatabaseHold,
    /// What the last host left it like.
    pub(crate) suspicion: Suspicion,
}

pub(crate) fn open(path: &DatabasePath, durability: Durability) -> Result<Opened, OpenError> {
    match path {
        DatabasePath::Memory => {
            let named = Path::new(":memory:");
            let mut writer =
                Connection::open_in_memory().map_err(|error| unavailable(named, error))?;
            prepare(&mut writer, named, durability, Suspicion::None)?;
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
            let mut writer = Connection::open_with_flags(&path, flags(false))
                .map_err(|error| unavailable(named, error))?;
            prepare(&mut writer, named, durability, suspicion)?;
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

/// A connection that only reads.
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
    // Each connection belongs to one thread at a time, so SQLite's own mutexes are left out.
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// The one name of a file, however the caller spelled it, with its folders made. Through links and
/// relative parts two hosts would otherwise take two locks for one file, and SQLite two logs.
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
        // SQLite follows a link to nothing and makes the file it names.
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
    suspicion: Suspicion,
) -> Result<(), OpenError> {
    let fail = |error: rusqlite::Error| unavailable(path, error);
    settings(writer).map_err(fail)?;
    // Until all is well: the log of a file that is not ours, or damaged, is not ours to fold.
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    writer.set_db_config(keep_log, true).map_err(fail)?;
    let found = check_owner(writer, path)?;
    writer
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fail)?;
    let synchronous = match durability {
        Durability::Normal => "NORMAL",
        Durability::Full => "FULL",
    };
    writer
        .pragma_update(None, "synchronous", synchronous)
        .map_err(fail)?;
    // On macOS an ordinary flush stops at the drive's own cache; elsewhere this says nothing.
    writer
        .pragma_update(None, "fullfsync", durability == Durability::Full)
        .map_err(fail)?;
    if suspicion == Suspicion::Small
        && let Some(damage) = damage(writer, None).map_err(fail)?
    {
        return Err(unavailable(path, advise(&damage)));
    }
    migrate(writer, path, found)?;
    writer
        .set_db_config(keep_log, false)
        .map(|_| ())
        .map_err(fail)
}

fn settings(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(128);
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Statements keep their plan whatever is bound to them. SQLite would else plan many of them
    // anew for every value, which costs more than to run them.
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
