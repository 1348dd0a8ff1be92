//! Prevents the removal of objects while a capture uses them.
//!
//! Captures take a shared lock of the store. A sweep and an erasure take an exclusive lock.

use std::{
    fs::{File, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use opencode_handles::{create_private_folder, private_file};

use crate::error::SnapshotError;

/// Maximum wait for a sweep of another process. A sweep locks the store only briefly.
const TIMEOUT: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(2);

/// A lock of the store, released when dropped.
pub(crate) struct Lock(#[expect(dead_code, reason = "held until dropped")] File);

/// Takes a shared lock of the store.
pub(crate) fn shared(store: &Path) -> Result<Option<Lock>, SnapshotError> {
    lock(store, File::try_lock_shared)
}

/// Maximum wait of an erasure for the captures of other processes.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);

/// Takes an exclusive lock of the store, and waits for long captures. Fails on a file system without locks.
pub(crate) fn for_erasure(store: &Path) -> Result<Lock, SnapshotError> {
    acquire(store, File::try_lock, LONG_TIMEOUT)?.ok_or_else(|| {
        let error = std::io::Error::from(std::io::ErrorKind::Unsupported);
        SnapshotError::io(store.display().to_string())(error)
    })
}

/// Takes an exclusive lock of the store.
pub(crate) fn exclusive(store: &Path) -> Result<Option<Lock>, SnapshotError> {
    lock(store, File::try_lock)
}

/// Some network file systems have no locks. Then only the times of objects protect them.
fn lock(
    store: &Path,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Option<Lock>, SnapshotError> {
    acquire(store, lock, TIMEOUT)
}

/// Returns `None` if the file system has no locks.
fn acquire(
    store: &Path,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
    timeout: Duration,
) -> Result<Option<Lock>, SnapshotError> {
    let path = store.join("lock");
    let failed = || SnapshotError::io(path.display().to_string());
    let mut options = private_file();
    options.create(true).truncate(false);
    let file = options.open(&path).or_else(|_| {
        create_private_folder(store)?;
        options.open(&path)
    });
    let file = file.map_err(failed())?;
    let deadline = Instant::now() + timeout;
    loop {
        match lock(&file) {
            Ok(()) => return Ok(Some(Lock(file))),
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                return Ok(None);
            }
            Err(TryLockError::Error(error)) => return Err(failed()(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(SnapshotError::Busy(store.display().to_string()));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}
