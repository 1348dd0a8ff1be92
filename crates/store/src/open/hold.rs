//! A database file that no other host can open and that no other code in this process opens.
//!
//! A user may remove the lock file of a host. So Linux also uses a second lock, on a byte of the
//! database file that SQLite does not use. This lock belongs to a file descriptor and not to the
//! process. The descriptor is closed after SQLite has closed the file, because closing it earlier
//! would release the locks of SQLite. Other systems lack this lock. There, a host stops writing
//! when its lock file is gone.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use opencode_handles::{OpenDatabase, private_file};

use crate::error::{OpenError, StoreError};
use crate::holder::Holder;
use crate::open::lock::{FileLock, in_use};
use crate::open::unavailable;

/// Exclusive use of a database file. Released in the order of the fields, after SQLite has closed the file.
pub(crate) struct DatabaseHold {
    database: OpenDatabase,
    #[cfg(target_os = "linux")]
    _own: Option<OwnLock>,
    _lock: FileLock,
}

impl DatabaseHold {
    /// Locks the database at `path` and creates a missing file. `named` is the caller's path for
    /// error messages.
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

    /// Records that SQLite has opened the database and created its companion files.
    pub(crate) fn opened(&mut self) {
        self.database.opened();
    }

    /// Fails if a file of the database was removed or replaced. Writes to it would be lost at the
    /// next opening.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let Some(missing) = self.database.missing() else {
            return Ok(());
        };
        let missing = missing.display();
        let message = format!("its file {missing} was removed or replaced while it was open");
        Err(StoreError::Poisoned(message))
    }
}

/// Creates a missing file with private permissions, because SQLite would let other users read it.
/// The write-ahead log and its index receive the permissions of the file.
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
    /// Returns `None` if the file system does not support such locks.
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

/// Releases the lock explicitly, because a process that is being spawned may briefly hold a copy of
/// the descriptor.
#[cfg(target_os = "linux")]
impl Drop for OwnLock {
    fn drop(&mut self) {
        if let Err(error) = self.set(nix::libc::F_UNLCK) {
            tracing::debug!(%error, "the lock of the database file goes with its descriptor");
        }
    }
}
