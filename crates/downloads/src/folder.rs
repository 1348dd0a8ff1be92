//! Folders that are replaced as a whole.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use opencode_handles::create_private_folder;

/// Beginning of the names of folders that are not complete, or not needed any more.
const TEMPORARY: &str = ".part-";

/// Age of a temporary folder that the process which made it has left behind.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder whose content is not complete. Dropping it removes it.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates an empty folder below `work`, and removes folders that earlier processes left there.
    pub(crate) fn create(work: &Path) -> io::Result<Self> {
        create_private_folder(work)?;
        remove_abandoned(work);
        let path = temporary(work)?;
        create_private_folder(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Moves a part of the folder to its final place, and removes what was there. Both must be on one file system.
    pub(crate) fn put(&self, name: &str, work: &Path, place: &Path) -> io::Result<()> {
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        let former = Self(temporary(work)?);
        match fs::rename(place, &former.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(self.0.join(name), place).inspect_err(|_| {
            // Readers keep the former content if the new one cannot take its place.
            let _ = fs::rename(&former.0, place);
        })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a new name for a temporary folder.
fn temporary(work: &Path) -> io::Result<PathBuf> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let name = u64::from_le_bytes(bytes);
    Ok(work.join(format!("{TEMPORARY}{name:016x}")))
}

fn remove_abandoned(work: &Path) {
    let Ok(entries) = fs::read_dir(work) else {
        return;
    };
    for entry in entries.flatten() {
        let is_temporary = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        let changed = entry.metadata().and_then(|it| it.modified());
        let age = changed
            .ok()
            .and_then(|it| SystemTime::now().duration_since(it).ok());
        if is_temporary && age.is_some_and(|age| age > ABANDONED) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
