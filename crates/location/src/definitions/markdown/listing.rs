//! A cache of directory listings. An entry is valid until the directory changes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Minimum age of a directory's modification time for its listing to be cached. With a younger time,
/// the next change might not alter it: some file systems store times in steps of two seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// The listings of directories from the last observation.
#[derive(Default)]
pub(crate) struct Listings {
    /// The listings of the previous observation. Those that the current one does not use are dropped.
    before: HashMap<OsString, Listing>,
    // Keyed by text, because hashing a path processes each of its names separately.
    now: HashMap<OsString, Listing>,
}

struct Listing {
    modified: SystemTime,
    entries: Arc<[Entry]>,
}

/// An entry of a directory.
pub(super) struct Entry {
    pub name: OsString,
    pub kind: Kind,
}

/// The type of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    Link,
    Other,
}

impl Listings {
    /// Starts an observation. Listings of the previous observation can be reused once.
    pub(crate) fn begin(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }

    /// Returns the entries of a directory, sorted by name. Fails if there are more than `most`.
    pub(super) fn list(&mut self, directory: &Path, most: usize) -> io::Result<Arc<[Entry]>> {
        let modified = fs::metadata(directory)?.modified()?;
        if let Some(known) = self.before.remove(directory.as_os_str())
            && known.modified == modified
            && known.entries.len() <= most
        {
            let entries = Arc::clone(&known.entries);
            self.now.insert(directory.into(), known);
            return Ok(entries);
        }
        // The system clock is correct here, because it is compared with file times.
        let is_settled = SystemTime::now()
            .duration_since(modified)
            .is_ok_and(|age| age >= SETTLED);
        let entries: Arc<[Entry]> = read(directory, most)?.into();
        if is_settled {
            let entries = Arc::clone(&entries);
            let listing = Listing { modified, entries };
            self.now.insert(directory.into(), listing);
        }
        Ok(entries)
    }
}

fn read(directory: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        if entries.len() == most {
            return Err(io::Error::from(io::ErrorKind::QuotaExceeded));
        }
        let entry = entry?;
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => Kind::Directory,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        let name = entry.file_name();
        entries.push(Entry { name, kind });
    }
    // A fixed order, so that the same files are left out if there are too many.
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}
