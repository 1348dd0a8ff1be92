//! When Managed Tool Output Files go.

use std::{io, path::Path};

use opencode_schema::clock::Millis;
use tokio_util::sync::CancellationToken;

use super::PREFIX;

/// How long a file is kept after it was last written.
const RETENTION: Millis = 7 * 24 * 60 * 60 * 1000;

/// Deletes the Managed Tool Output Files of `directory` that were last written more than seven days
/// before `now`, and says how many these were. Everything else that lies there stays, links and
/// directories included, and so does everything if the directory itself is a link. Blocks on the
/// disk, holds one name at a time, and ends early when `stopped` is cancelled.
///
/// # Errors
///
/// Why the directory cannot be read. That there is none is no error.
pub fn sweep_managed_output(
    directory: &Path,
    now: Millis,
    stopped: &CancellationToken,
) -> io::Result<usize> {
    match sweep(directory, now - RETENTION, stopped) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        swept => swept,
    }
}

fn is_managed(name: &[u8]) -> bool {
    let rest = name.strip_prefix(PREFIX.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"_"))
}

/// Everything goes by the handle of the directory, whatever is put in its place meanwhile.
#[cfg(unix)]
fn sweep(directory: &Path, before: Millis, stopped: &CancellationToken) -> io::Result<usize> {
    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, statat, unlinkat};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = open(directory, flags, Mode::empty())?;
    let mut swept = 0;
    for entry in Dir::read_from(&held)? {
        let entry = entry?;
        let name = entry.file_name();
        if stopped.is_cancelled() {
            break;
        }
        if !is_managed(name.to_bytes()) {
            continue;
        }
        // Another host may have been faster.
        let Ok(found) = statat(&held, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        let written = found.st_mtime.saturating_mul(1000);
        if is_file && written < before && unlinkat(&held, name, AtFlags::empty()).is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}

#[cfg(not(unix))]
fn sweep(directory: &Path, before: Millis, stopped: &CancellationToken) -> io::Result<usize> {
    use std::{fs, time::UNIX_EPOCH};

    if !fs::symlink_metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut swept = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if stopped.is_cancelled() {
            break;
        }
        if !is_managed(entry.file_name().as_encoded_bytes()) {
            continue;
        }
        // Another host may have been faster.
        let Ok(found) = entry.metadata() else {
            continue;
        };
        let written = found.modified()?.duration_since(UNIX_EPOCH);
        let written = written.map_or(0, |since| since.as_millis() as Millis);
        if found.is_file() && written < before && fs::remove_file(entry.path()).is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}
