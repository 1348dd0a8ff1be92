//! The lock on a database file, and the process that holds it.
//!
//! The lock is advisory and uses a separate file. Two handles also exclude each other within one
//! process. The holder writes its identity into the lock file and empties the file before it
//! releases the lock. Readers ignore the entry of a dead process.
//!
//! A user may remove that file, so the database file itself is also locked ([`crate::open::hold`]).

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use opencode_handles::private_file;

use crate::error::OpenError;
use crate::holder::{Holder, identity};
use crate::open::unavailable;

/// A held lock. The operating system releases it when the process ends.
pub(crate) struct FileLock(File);

impl FileLock {
    /// Locks the database at `path`. `named` is the caller's path for error messages.
    pub(crate) fn take(path: &Path, named: &Path) -> Result<Self, OpenError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let file = private_file()
            .create(true)
            .truncate(false)
            .open(&name)
            .map_err(|error| unavailable(named, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(in_use(named, Holder::read(Path::new(&name))));
            }
            Err(TryLockError::Error(error)) => return Err(unavailable(named, error)),
        }
        if let Err(error) = sign(&file) {
            tracing::debug!(%error, "the database lock does not say who holds it");
        }
        Ok(Self(file))
    }
}

pub(crate) fn in_use(named: &Path, holder: Holder) -> OpenError {
    let path = named.to_owned();
    OpenError::InUse { path, holder }
}

/// Releases the lock explicitly. A process that is being spawned may briefly hold a copy of the
/// handle, so closing this handle would not release the lock.
impl Drop for FileLock {
    fn drop(&mut self) {
        if let Err(error) = self.0.set_len(0).and_then(|()| self.0.unlock()) {
            tracing::debug!(%error, "the database lock goes with its handle");
        }
    }
}

/// Writes the identity of the lock holder. Before that, the file is empty or names a dead process.
fn sign(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    let pid = std::process::id();
    match identity(pid) {
        Some(identity) => writeln!(file, "{pid} {identity}"),
        None => Ok(()),
    }
}
