//! A database file that no other host can open, and that nothing else in this process opens.
//!
//! A user may remove the file with the lock of a host. So on Linux a second lock lies on the database
//! file itself, on a byte that SQLite does not use. It belongs to a descriptor and not to the process.
//! The descriptor is closed after SQLite has closed the file, because closing it drops the locks of
//! SQLite. Other systems have no such lock; there a host stops to write when the file with its lock
//! is gone.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use opencode_handles::{OpenDatabase, private_file};

use crate::error::{OpenError, StoreError};
use crate::holder::Holder;
use crate::open::lock::{FileLock, in_use};
use crate::open::unavailable;

/// What a host holds as long as its database is open. It is given back in the order of the fields,
/// after SQLite has closed the file.
pub(crate) struct DatabaseHold {
    database: OpenDatabase,
    #[cfg(target_os = "linux")]
    _own: Option<OwnLock>,
    _lock: FileLock,
}

impl DatabaseHold {
    /// Takes the database at `path`, which the caller named `named`. A missing file is created.
    pub(crate) fn take(path: &Path, named: &Path) -> Result<Self, OpenError> {
        let fail = |error: io::Error| unavailable(named, error);
        let lock = FileLock::take(path, named)?;
        create_private(path).map_err(fail)?;
        // Another host of this process may have the file open. Opening it would disturb that host.
        let Some(database) = OpenDatabase::register(path).map_err(fail)? else {
            return Err(in_use(named, Holder::ThisProcess));
        };
        Ok(Self {
            database,
            #[cfg(target_os = "linux")]
            _own: OwnLock::take(path, named)?,
            _lock: lock,
        })
    }

    /// Tells that SQLite has opened the database and created the files beside it.
    pub(crate) fn opened(&mut self) {
        self.database.opened();
    }

    /// Fails when a file of the database was removed or replaced: what is written now is gone with
    /// the next opening.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let Some(missing) = self.database.missing() else {
            return Ok(());
        };
        let missing = missing.display();
        let message = format!("its file {missing} was removed or replaced while it was open");
        Err(StoreError::Poisoned(message))
    }
}

/// Makes the file where there is none, because SQLite would let others read it. Its log and index
/// have the permissions of the file.
fn create_private(path: &Path) -> io::Result<()> {
    match private_file().create_new(true).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// The lock on the database file itself.
#[cfg(target_os = "linux")]
struct OwnLock(File);

#[cfg(target_os = "linux")]
impl OwnLock {
    /// None where the file system has no such locks.
    fn take(path: &Path, named: &Path) -> Result<Option<Self>, OpenError> {
        use nix::{errno::Errno, libc::F_WRLCK};

        let file = File::options().read(true).write(true).open(path);
        let lock = Self(file.map_err(|error| unavailable(named, error))?);
        match lock.set(F_WRLCK) {
            Ok(()) => Ok(Some(lock)),
            Err(Errno::EAGAIN | Errno::EACCES) => Err(in_use(named, Holder::Unknown)),
            Err(error) => {
                tracing::debug!(%error, "the database file itself is not locked");
                Ok(None)
            }
        }
    }

    /// Locks or unlocks the last byte that a file can have.
    #[allow(clippy::cast_possible_truncation, reason = "these constants are small")]
    fn set(&self, kind: i32) -> nix::Result<()> {
        use nix::{
            fcntl::{FcntlArg, fcntl},
            libc::{SEEK_SET, flock, off_t},
        };

        let range = flock {
            l_type: kind as _,
            l_whence: SEEK_SET as _,
            l_start: off_t::MAX - 1,
            l_len: 1,
            l_pid: 0,
        };
        fcntl(&self.0, FcntlArg::F_OFD_SETLK(&range)).map(drop)
    }
}

/// Gives the lock back. A process that is being spawned may hold a copy of the descriptor for a
/// moment.
#[cfg(target_os = "linux")]
impl Drop for OwnLock {
    fn drop(&mut self) {
        if let Err(error) = self.set(nix::libc::F_UNLCK) {
            tracing::debug!(%error, "the lock of the database file goes with its descriptor");
        }
    }
}
