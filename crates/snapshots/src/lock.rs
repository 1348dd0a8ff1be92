//! Prevents the removal of objects while a capture uses them.
//!
//! Captures take a shared lock of the store. A sweep takes an exclusive lock.

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
pub(crate) fn shared(store: &Path) -> Result<Lock, SnapshotError> {
    wait(store, File::try_lock_shared)
}

/// Takes an exclusive lock of the store.
pub(crate) fn exclusive(store: &Path) -> Result<Lock, SnapshotError> {
    wait(store, File::try_lock)
}

fn wait(
    store: &Path,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Lock, SnapshotError> {
    let path = store.join("lock");
    let failed = || SnapshotError::io(path.display().to_string());
    let mut options = private_file();
    options.create(true).truncate(false);
    let file = options.open(&path).or_else(|_| {
        create_private_folder(store)?;
        options.open(&path)
    });
    let file = file.map_err(failed())?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match lock(&file) {
            Ok(()) => return Ok(Lock(file)),
            // Some network file systems have no locks. Then only the times of objects protect them.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                return Ok(Lock(file));
            }
            Err(TryLockError::Error(error)) => return Err(failed()(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(SnapshotError::Busy(store.display().to_string()));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}
