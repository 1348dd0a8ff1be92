//! The files of databases that are open in this process. Nothing else in the process may open them.
//!
//! SQLite uses POSIX locks. They belong to the process: if the process closes any descriptor of the
//! file, it loses all its locks on the file. Another SQLite program then deletes the write-ahead
//! log or writes into a database that is in use. So the store registers its files here, and code
//! that opens another file checks the register first. A file is identified by device and inode, so
//! a link or another name does not hide it.
//!
//! The register belongs to the loaded library. All JavaScript realms of one process share it,
//! because the system loads the library once.
//!
//! Windows has no POSIX locks, and stable Rust does not provide the identity of a file there.

use std::{
    collections::HashMap,
    ffi::OsString,
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Suffixes of the files beside a database.
const COMPANIONS: [&str; 4] = ["-wal", "-shm", "-journal", LOCK];

/// Suffix of the lock file that excludes other hosts.
const LOCK: &str = ".lock";

/// True if the lock file is the only lock that excludes other hosts.
const NEEDS_LOCK_FILE: bool = cfg!(not(any(target_os = "linux", target_os = "android")));

static REGISTER: RwLock<Option<Register>> = RwLock::new(None);

/// The device and the inode of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// A file of an open database.
struct Known {
    database: Arc<Path>,
    /// True for the database itself, false for a file beside it.
    is_itself: bool,
}

#[derive(Default)]
struct Register {
    files: HashMap<Identity, Known>,
    /// Databases that SQLite is opening. Their companion files appear meanwhile.
    opening: Vec<Arc<Path>>,
    /// Files that must not be closed before their database, with the path of the database.
    kept: Vec<(Arc<Path>, File)>,
}

/// A database that is open in this process. It is registered until this value is dropped, which
/// must happen after SQLite has closed the database.
#[derive(Debug)]
pub struct OpenDatabase {
    path: Arc<Path>,
    files: Vec<(PathBuf, Identity)>,
}

impl OpenDatabase {
    /// Registers the database at a canonical path before SQLite opens it. Returns `None` if this
    /// process already has the file open.
    ///
    /// # Errors
    ///
    /// Fails if the file does not exist.
    pub fn register(path: &Path) -> io::Result<Option<Self>> {
        let found = identity(&path.metadata()?);
        let path: Arc<Path> = path.into();
        let mut register = write();
        let register = register.get_or_insert_default();
        if let Some(found) = found {
            // Another file may have the inode of a companion file that SQLite removed.
            let known = register.files.get(&found);
            if known.is_some_and(|known| known.is_itself) {
                return Ok(None);
            }
            let known = Known {
                database: Arc::clone(&path),
                is_itself: true,
            };
            register.files.insert(found, known);
        }
        register.opening.push(Arc::clone(&path));
        let files = found.map(|found| (path.to_path_buf(), found));
        Ok(Some(Self {
            files: files.into_iter().collect(),
            path,
        }))
    }

    /// Also registers the companion files. Call it after SQLite has created them.
    pub fn opened(&mut self) {
        let mut register = write();
        let register = register.get_or_insert_default();
        for companion in companions(&self.path) {
            let found = companion.metadata().ok();
            if let Some(found) = found.as_ref().and_then(identity) {
                let known = Known {
                    database: Arc::clone(&self.path),
                    is_itself: false,
                };
                register.files.insert(found, known);
                self.files.push((companion, found));
            }
        }
        register
            .opening
            .retain(|path| !Arc::ptr_eq(path, &self.path));
    }

    /// Returns the first file that is no longer at its path because it was removed, moved or
    /// replaced.
    pub fn missing(&self) -> Option<&Path> {
        let is_missing = |(path, known): &&(PathBuf, Identity)| match path.metadata() {
            Ok(found) => identity(&found) != Some(*known),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let is_lock = |path: &Path| path.extension().is_some_and(|it| it == &LOCK[1..]);
        let files = self.files.iter();
        let mut needed = files.filter(|(path, _)| NEEDS_LOCK_FILE || !is_lock(path));
        let missing = needed.find(is_missing)?;
        Some(&missing.0)
    }
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        let mut register = write();
        let register = register.get_or_insert_default();
        let is_other = |path: &Arc<Path>| !Arc::ptr_eq(path, &self.path);
        register.kept.retain(|(path, _)| is_other(path));
        register.files.retain(|_, known| is_other(&known.database));
        register.opening.retain(is_other);
    }
}

/// Opens a file for reading and follows links. Opens only a regular file, because opening other
/// kinds can have effects or block forever, and never a file of a database that is open in this
/// process.
///
/// # Errors
///
/// Fails if the file cannot be opened, is not a regular file, or belongs to an open database.
pub fn open_file(path: &Path) -> io::Result<File> {
    let found = path.metadata()?;
    if !found.is_file() {
        let message = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    refuse_database(&found)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.open(path)?;
    let found = identity(&file.metadata()?);
    keep_database(file, found)
}

/// Refuses a file that belongs to a database that is open in this process.
///
/// # Errors
///
/// Fails with the path of the database.
pub fn refuse_database(found: &Metadata) -> io::Result<()> {
    identity(found).map_or(Ok(()), refuse)
}

/// True if the error means that a file belongs to a database that is open in this process.
pub fn is_open_database(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(|inner| inner.is::<OpenDatabaseError>())
}

#[derive(Debug)]
struct OpenDatabaseError(Arc<Path>);

impl std::fmt::Display for OpenDatabaseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.0.display();
        write!(f, "it belongs to the open database {path} of this program")
    }
}

impl std::error::Error for OpenDatabaseError {}

/// Refuses a file by its identity if it belongs to an open database.
pub(crate) fn refuse(found: Identity) -> io::Result<()> {
    match owner(found) {
        None => Ok(()),
        Some(path) => Err(refusal(path)),
    }
}

/// Refuses an opened file if it belongs to an open database, which happens if it just replaced
/// another file. Closing it would release the locks, so it stays open.
pub(crate) fn keep_database(file: File, found: Option<Identity>) -> io::Result<File> {
    let Some(path) = found.and_then(owner) else {
        return Ok(file);
    };
    let mut register = write();
    let kept = &mut register.get_or_insert_default().kept;
    kept.push((Arc::clone(&path), file));
    Err(refusal(path))
}

/// False if no file with this inode number, on any device, belongs to an open database.
pub(crate) fn may_be_database(inode: u64) -> bool {
    let register = read();
    register.as_ref().is_some_and(|register| {
        // The companion files of a database that SQLite is opening are not registered yet.
        !register.opening.is_empty() || register.files.keys().any(|known| known.inode == inode)
    })
}

fn refusal(path: Arc<Path>) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, OpenDatabaseError(path))
}

/// Returns the open database that a file belongs to.
fn owner(found: Identity) -> Option<Arc<Path>> {
    let register = read();
    let register = register.as_ref()?;
    if let Some(known) = register.files.get(&found) {
        return Some(Arc::clone(&known.database));
    }
    let is_companion = |path: &PathBuf| {
        let companion = path.metadata().ok();
        companion.as_ref().and_then(identity) == Some(found)
    };
    let mut opening = register.opening.iter();
    let path = opening.find(|path| companions(path).any(|path| is_companion(&path)))?;
    Some(Arc::clone(path))
}

fn companions(path: &Path) -> impl Iterator<Item = PathBuf> {
    COMPANIONS.into_iter().map(move |suffix| {
        let mut name = OsString::from(path);
        name.push(suffix);
        name.into()
    })
}

#[cfg(unix)]
#[allow(
    clippy::unnecessary_wraps,
    reason = "other systems do not tell the identity"
)]
fn identity(found: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some(Identity {
        device: found.dev(),
        inode: found.ino(),
    })
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<Identity> {
    None
}

fn read() -> RwLockReadGuard<'static, Option<Register>> {
    REGISTER.read()
}

fn write() -> RwLockWriteGuard<'static, Option<Register>> {
    REGISTER.write()
}
