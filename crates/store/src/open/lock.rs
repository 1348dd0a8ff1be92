//! The lock on a database file, and who holds it.
//!
//! The lock is advisory and on a file of its own. Two handles exclude each other within one process
//! too. The holder writes who it is into that file. The entry of a process that died does not count,
//! and the holder empties the file before it gives the lock back.
//!
//! A user may remove that file, so the database file itself is locked too ([`crate::open::held`]).

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use opencode_handles::private_file;

use crate::error::OpenError;
use crate::holder::{Holder, identity};
use crate::open::unavailable;

/// A lock that is held. The operating system drops it with the process.
pub(crate) struct FileLock(File);

impl FileLock {
    /// Takes the lock of the database at `path`, which the caller named `named`.
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

/// Gives the lock back. A process that is being spawned may hold a copy of the handle for a moment,
/// so closing ours alone would not free it.
impl Drop for FileLock {
    fn drop(&mut self) {
        if let Err(error) = self.0.set_len(0).and_then(|()| self.0.unlock()) {
            tracing::debug!(%error, "the database lock goes with its handle");
        }
    }
}

/// Writes who holds the lock. Until then the file is empty, or names a process that has died.
fn sign(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    let pid = std::process::id();
    match identity(pid) {
        Some(identity) => writeln!(file, "{pid} {identity}"),
        None => Ok(()),
    }
}
